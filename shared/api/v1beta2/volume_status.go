package v1beta2

// VolumeStatus is where a volume is. attach-controller writes it, except for the fields that name another writer.
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeStatus struct {
	// Bytes that the volume's data and snapshots take in one replica; of a detached volume, when it was attached last. Written by
	// attach-controller; absent means 0, not known.
	// +optional
	ActualSize int64 `json:"actualSize,omitempty"`
	// Largest size in bytes for which there was room on the disks of all replicas, and to which the engine may be expanded: spec.size
	// grows beyond it only when there is room, and is never less again. Written by attach-controller; absent means that no
	// replica was given a size.
	// +optional
	AcceptedSize int64 `json:"acceptedSize,omitempty"`
	// spec.size with its unit, such as 20Gi, for people. Written by attach-controller; absent means unknown.
	// +optional
	Capacity string `json:"capacity,omitempty"`
	// How far filling the volume from another one is. Written by attach-controller; absent means it is no clone.
	// +optional
	CloneStatus VolumeCloneStatus `json:"cloneStatus,omitzero"`
	// The observations for people and peer controllers, one writer per type. Written by the writer of each type; absent means
	// nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Node on which the v2 target runs; kept for objects that Longhorn created, Drover uses currentTargetNodeID. Written
	// by Longhorn; absent means the node of the volume.
	// +optional
	CurrentEngineNodeID string `json:"currentEngineNodeID,omitempty"`
	// Engine image that the volume runs with. Written by attach-controller; absent means it never ran.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// Node on which the volume also runs while it moves live. Written by attach-controller; absent means no
	// migration.
	// +optional
	CurrentMigrationNodeID string `json:"currentMigrationNodeID,omitempty"`
	// Node to which the volume is attached; set only when it is fully attached, empty only when it is fully
	// detached. Written by attach-controller; absent means it is not attached.
	// +optional
	CurrentNodeID string `json:"currentNodeID,omitempty"`
	// Node on which the v2 target runs during a live upgrade. Written by attach-controller; absent means the target
	// is where the volume is attached.
	// +optional
	CurrentTargetNodeID string `json:"currentTargetNodeID,omitempty"`
	// Whether the volume is smaller than its spec. Written by attach-controller; absent means false.
	// +optional
	ExpansionRequired bool `json:"expansionRequired,omitempty"`
	// Whether the volume is attached without its block device. Written by attach-controller; absent means false.
	// +optional
	FrontendDisabled bool `json:"frontendDisabled,omitempty"`
	// Whether the volume is a disaster-recovery copy now. Written by attach-controller; absent means false.
	// +optional
	IsStandby bool `json:"isStandby,omitempty"`
	// The PersistentVolume, claim and workloads that use the volume. Written by attach-controller; absent means none is
	// known.
	// +optional
	KubernetesStatus KubernetesStatus `json:"kubernetesStatus,omitzero"`
	// RFC 3339 time of the last salvage. Written by attach-controller; absent means never.
	// +optional
	LastAutoSalvagedAt string `json:"lastAutoSalvagedAt,omitempty"`
	// Name of the newest finished backup; of a standby volume, the newest in its backup volume. Written by
	// snapshot-controller; of a standby volume, attach-controller; absent means there is none.
	// +optional
	LastBackup string `json:"lastBackup,omitempty"`
	// RFC 3339 time of the newest finished backup. Written by snapshot-controller; of a standby volume,
	// attach-controller; absent means there is none.
	// +optional
	LastBackupAt string `json:"lastBackupAt,omitempty"`
	// RFC 3339 time at which the volume last became degraded; it stays when the volume is healthy again. Written by
	// attach-controller; absent means never.
	// +optional
	LastDegradedAt string `json:"lastDegradedAt,omitempty"`
	// RFC 3339 time at which all snapshots were last hashed. Written by Longhorn; absent means never.
	// +optional
	LastOnDemandSnapshotHashingCompleteAt string `json:"lastOnDemandSnapshotHashingCompleteAt,omitempty"`
	// Node whose controller manages the volume: spec.nodeID while that node is not down, else the one that
	// serves in its place. Written by im-monitor; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// What was asked for and came to its end, well or not, as <snapshot>@<time>: it is not done again. The condition
	// Reverted states how it ended. Written by attach-controller; absent means never.
	// +optional
	LastRevert string `json:"lastRevert,omitempty"`
	// The last failure of the second engine of the migration that is under way. Written by attach-controller; absent means no migration,
	// or that its second engine has not failed.
	// +optional
	MigrationFailure *MigrationFailure `json:"migrationFailure,omitempty"`
	// The rebuilds of replicas that failed in a row. Written by attach-controller; absent means that the last one did not fail.
	// +optional
	RebuildFailures *RebuildFailures `json:"rebuildFailures,omitempty"`
	// RFC 3339 time at which the volume was usable again after it was detached under its users: pods that started
	// before have a mount that is dead, and are deleted (auto-delete-pod-when-volume-detached-unexpectedly). Written
	// by attach-controller; absent means never.
	// +optional
	RemountRequestedAt string `json:"remountRequestedAt,omitempty"`
	// Whether the restore of a volume made from a backup has begun. Written by attach-controller; absent means
	// false.
	// +optional
	RestoreInitiated bool `json:"restoreInitiated,omitempty"`
	// Whether the volume still needs data from its backup. Written by attach-controller; absent means false.
	// +optional
	RestoreRequired bool `json:"restoreRequired,omitempty"`
	// How healthy the replicas are: healthy, degraded, faulted or unknown. Written by attach-controller; absent
	// means unknown.
	// +optional
	Robustness string `json:"robustness,omitempty"`
	// URL at which an RWX volume is shared. Written by Longhorn; absent means it is not shared.
	// +optional
	ShareEndpoint string `json:"shareEndpoint,omitempty"`
	// State of the share of an RWX volume. Written by Longhorn; absent means it is not shared.
	// +optional
	ShareState string `json:"shareState,omitempty"`
	// Where the volume is: creating, attached, detached, attaching, detaching or deleting. Written by
	// attach-controller; absent means it was not checked yet.
	// +optional
	State string `json:"state,omitempty"`
	// How far the move of a v2 target is. Written by attach-controller; absent means none is under way.
	// +optional
	SwitchoverState string `json:"switchoverState,omitempty"`
	// How often the volume failed in a row: after each failure it is attached again later. A failure that comes ten minutes after the last
	// pause is the first again. Written by attach-controller; absent means never.
	// +optional
	Faults *VolumeFaults `json:"faults,omitempty"`
	// The metadata.generation that this status describes. Written by no controller yet; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// MigrationFailure describes why the second engine of a migration did not run, and when it is tried again.
// +kubebuilder:pruning:PreserveUnknownFields
type MigrationFailure struct {
	// How many attempts have failed in this migration. Written by attach-controller; absent means 0.
	// +optional
	Count int `json:"count"`
	// UID of the Engine that failed, so that each one counts once. Written by attach-controller; absent means unknown.
	// +optional
	EngineUID string `json:"engineUID"`
	// Why it failed, as a sentence. Written by attach-controller; absent means unknown.
	// +optional
	Message string `json:"message"`
	// Node of that engine. Written by attach-controller; absent means unknown.
	// +optional
	NodeID string `json:"nodeID"`
	// RFC 3339 time before which no further attempt begins: the pauses grow with the number of failures. Written by attach-controller;
	// absent means it may begin now.
	// +optional
	NextAttemptAt string `json:"nextAttemptAt"`
}

// RebuildFailures counts rebuilds of replicas that failed, whichever replicas they were of, and delays the next one.
// +kubebuilder:pruning:PreserveUnknownFields
type RebuildFailures struct {
	// How many rebuilds have failed since the last one that succeeded. Written by attach-controller; absent means 0.
	// +optional
	Count int `json:"count"`
	// How many of them failed on each node, by its name: after a few, new replicas go to other nodes. Written by attach-controller;
	// absent means none.
	// +optional
	// +kubebuilder:validation:MaxProperties=5000
	ByNode map[string]int `json:"byNode,omitempty"`
	// RFC 3339 time of the last failure, so that each counts once. Written by attach-controller; absent means never.
	// +optional
	LastFailedAt string `json:"lastFailedAt"`
	// Why it failed, as a sentence. Written by attach-controller; absent means unknown.
	// +optional
	Message string `json:"message"`
	// RFC 3339 time before which no further rebuild begins: the pauses grow with the number of failures. Written by attach-controller;
	// absent means it may begin now.
	// +optional
	NextAttemptAt string `json:"nextAttemptAt,omitempty"`
}

// VolumeFaults counts failures of a volume in a row.
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeFaults struct {
	// How many failures there were. Written by attach-controller; absent means 0.
	// +optional
	Count int `json:"count"`
	// RFC 3339 time of the last one. Written by attach-controller; absent means never.
	// +optional
	LastFailedAt string `json:"lastFailedAt"`
}

// VolumeCloneStatus is how far filling a volume from another one is.
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeCloneStatus struct {
	// How often copying was tried. Written by attach-controller; absent means 0.
	// +optional
	AttemptCount int `json:"attemptCount,omitempty"`
	// RFC 3339 time before which copying is not tried again. Written by attach-controller; absent means it may be
	// tried now.
	// +optional
	NextAllowedAttemptAt string `json:"nextAllowedAttemptAt,omitempty"`
	// Snapshot of the source that is copied. Written by attach-controller; absent means not taken yet.
	// +optional
	Snapshot string `json:"snapshot,omitempty"`
	// Volume that is copied. Written by attach-controller; absent means none.
	// +optional
	SourceVolume string `json:"sourceVolume,omitempty"`
	// initiated, copy-completed-awaiting-healthy, completed or failed. Written by attach-controller; absent means not
	// begun.
	// +optional
	State string `json:"state,omitempty"`
}

// KubernetesStatus is what in Kubernetes uses a volume.
// +kubebuilder:pruning:PreserveUnknownFields
type KubernetesStatus struct {
	// RFC 3339 time at which it was noticed that the claim is no longer bound to it. Written by attach-controller; absent
	// means it is bound now, or never was.
	// +optional
	LastPVCRefAt string `json:"lastPVCRefAt,omitempty"`
	// RFC 3339 time at which it was noticed that no pod uses it any more. Written by attach-controller; absent means it is
	// used now, or never was.
	// +optional
	LastPodRefAt string `json:"lastPodRefAt,omitempty"`
	// Namespace of the claim, or of the last claim. Written by attach-controller; absent means no claim.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the PersistentVolume. Written by attach-controller; absent means there is none.
	// +optional
	PVName string `json:"pvName,omitempty"`
	// Phase of the PersistentVolume. Written by attach-controller; absent means there is none.
	// +optional
	PVStatus string `json:"pvStatus,omitempty"`
	// Name of the claim, or of the last claim. Written by attach-controller; absent means there was none.
	// +optional
	PVCName string `json:"pvcName,omitempty"`
	// The pods that use the volume, or used it last. Written by attach-controller; absent means none.
	// +nullable
	// +optional
	WorkloadsStatus []WorkloadStatus `json:"workloadsStatus,omitempty"`
}

// WorkloadStatus is one pod that uses a volume.
// +kubebuilder:pruning:PreserveUnknownFields
type WorkloadStatus struct {
	// Name of the pod. Written by attach-controller; absent means unknown.
	// +optional
	PodName string `json:"podName,omitempty"`
	// Phase of the pod. Written by attach-controller; absent means unknown.
	// +optional
	PodStatus string `json:"podStatus,omitempty"`
	// Name of what the pod belongs to. Written by attach-controller; absent means the pod stands alone.
	// +optional
	WorkloadName string `json:"workloadName,omitempty"`
	// Kind of what the pod belongs to, such as StatefulSet. Written by attach-controller; absent means the pod stands alone.
	// +optional
	WorkloadType string `json:"workloadType,omitempty"`
}
