package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EngineSpec is the engine that attach-controller wants; the only writer, except for the fields that name another one.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineSpec struct {
	// Whether this is the engine that the volume uses; the other one of a migration is not. Written by
	// attach-controller; absent means false.
	// +optional
	Active bool `json:"active,omitempty"`
	// Name of the BackupVolume that a restore reads; where there is none, the volume's name in the backup target.
	// Written by attach-controller; absent means no restore.
	// +optional
	BackupVolume string `json:"backupVolume,omitempty"`
	// The data engine that runs it. Written by attach-controller; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Whether it must be running or stopped. Written by attach-controller; absent means stopped.
	// +optional
	DesireState string `json:"desireState,omitempty"`
	// Whether it runs without a frontend. Written by attach-controller; absent means false.
	// +optional
	DisableFrontend bool `json:"disableFrontend,omitempty"`
	// What it exposes on its node: a block device (blockdev, ublk), an iSCSI or an NVMe-oF target. Written by
	// attach-controller; absent means nothing.
	// +kubebuilder:validation:Enum=blockdev;iscsi;nvmf;ublk;""
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// Engine image to run. Written by attach-controller; absent means none.
	// +optional
	Image string `json:"image,omitempty"`
	// Whether its log must be fetched. Written by Longhorn; absent means false.
	// +optional
	LogRequested bool `json:"logRequested,omitempty"`
	// RFC 3339 time at which a poll of the running engine by im-monitor was requested; answered by
	// status.lookedAt. Written by attach-controller or upgrade-controller; absent means none was requested.
	// +optional
	LookRequestedAt string `json:"lookRequestedAt,omitempty"`
	// Node that it must run on. Written by attach-controller; absent means nowhere.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// How many files of one replica are rebuilt at a time. Written by attach-controller; absent means the data
	// engine's default.
	// +optional
	RebuildConcurrentSyncLimit int `json:"rebuildConcurrentSyncLimit,omitempty"`
	// Address (ip:port) of each replica that it must serve from, by the replica's name. Written by
	// attach-controller; absent means none.
	// +optional
	ReplicaAddressMap map[string]string `json:"replicaAddressMap,omitempty"`
	// Snapshot to revert to, and when that was requested, as <snapshot>@<time>. Written by attach-controller; absent means
	// none.
	// +optional
	RequestedRevert string `json:"requestedRevert,omitempty"`
	// Name of the backup to restore next. Written by attach-controller; absent means none.
	// +optional
	RequestedBackupRestore string `json:"requestedBackupRestore,omitempty"`
	// The source of its data (snap://<volume>/<snapshot>). Written by attach-controller; absent means
	// nothing.
	// +optional
	RequestedDataSource string `json:"requestedDataSource,omitempty"`
	// Whether v1 replicas no longer count their writes. Written by attach-controller; absent means false.
	// +optional
	RevisionCounterDisabled bool `json:"revisionCounterDisabled,omitempty"`
	// Whether it must start from failed replicas. Written by attach-controller; absent means false.
	// +optional
	SalvageRequested bool `json:"salvageRequested,omitempty"`
	// How many snapshots it allows. Written by attach-controller; absent means the data engine's default.
	// +optional
	SnapshotMaxCount int `json:"snapshotMaxCount,omitempty"`
	// How many bytes all snapshots together may have, as a decimal string. Written by attach-controller; absent
	// means no limit.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	SnapshotMaxSize int64 `json:"snapshotMaxSize,omitempty,string"`
	// Number of queues of a ublk frontend. Written by attach-controller; absent means the data engine's default.
	// +optional
	UblkNumberOfQueue int `json:"ublkNumberOfQueue,omitempty"`
	// Depth of each queue of a ublk frontend. Written by attach-controller; absent means the data engine's default.
	// +optional
	UblkQueueDepth int `json:"ublkQueueDepth,omitempty"`
	// Whether trimming marks the snapshots of the chain as removed. Written by attach-controller; absent means
	// false.
	// +optional
	UnmapMarkSnapChainRemovedEnabled bool `json:"unmapMarkSnapChainRemovedEnabled,omitempty"`
	// Address of each replica of a v1 engine that is being upgraded, by the replica's name. Written by
	// attach-controller; absent means no upgrade.
	// +optional
	UpgradedReplicaAddressMap map[string]string `json:"upgradedReplicaAddressMap,omitempty"`
	// Volume that it belongs to. Written by attach-controller; absent means unknown.
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// Size of the volume in bytes, as a decimal string. Written by attach-controller; absent means 0, not known.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	VolumeSize int64 `json:"volumeSize,omitempty,string"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=engines,shortName=lhe,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.volumeName`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:selectablefield:JSONPath=`.status.instanceManagerName`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.currentState`
// +kubebuilder:printcolumn:name="Wanted",type=string,JSONPath=`.spec.desireState`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="Instance Manager",type=string,JSONPath=`.status.instanceManagerName`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="NodeDown")].reason`
// +kubebuilder:printcolumn:name="Deleted",type=date,JSONPath=`.metadata.deletionTimestamp`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volumeName`,priority=1
// +kubebuilder:printcolumn:name="UUID",type=string,JSONPath=`.status.uuid`,priority=1
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.currentImage`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="NodeDown")].message`,priority=1

// Engine is the process that serves a volume's data: in v1 the controller process, in v2 the target over the
// replicas.
type Engine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec EngineSpec `json:"spec,omitzero"`
	// +optional
	Status EngineStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// EngineList is a list of Engine objects.
type EngineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Engine `json:"items"`
}
