package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReplicaSpec is the replica that attach-controller wants; the only writer, except for the fields that name another one.
// +kubebuilder:pruning:PreserveUnknownFields
type ReplicaSpec struct {
	// Whether it belongs to the engine that the volume uses; false while only a migration's other engine uses it.
	// Written by attach-controller; absent means false.
	// +optional
	Active bool `json:"active,omitempty"`
	// BackingImage that it starts from. Written by attach-controller; absent means none.
	// +optional
	BackingImage string `json:"backingImage,omitempty"`
	// Name of its directory (v1), <volume>-<8 hex>; kept in v2, too. Written by attach-controller; absent means not
	// placed yet.
	// +optional
	DataDirectoryName string `json:"dataDirectoryName,omitempty"`
	// The data engine that runs it. Written by attach-controller; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Whether it must be running or stopped; a stopped replica keeps its data. Written by attach-controller; absent
	// means stopped.
	// +optional
	DesireState string `json:"desireState,omitempty"`
	// UUID of the disk that holds its data. Written by attach-controller; absent means not placed yet.
	// +optional
	DiskID string `json:"diskID,omitempty"`
	// Path of that disk. Written by attach-controller; absent means not placed yet.
	// +optional
	DiskPath string `json:"diskPath,omitempty"`
	// Engine that it belongs to. Written by attach-controller; absent means unknown.
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// Whether it must be replaced by one elsewhere. Written by attach-controller, from the node and the disk;
	// absent means false.
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
	// RFC 3339 time at which it failed; it is not used until salvage or rebuild clears this. Written by
	// attach-controller; absent means it did not fail.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$")`,message="spec.failedAt must be an RFC 3339 time, such as 2026-01-31T09:30:00Z, or empty for a replica that may be used again"
	// +optional
	FailedAt string `json:"failedAt,omitempty"`
	// Node that it must stay on (strict-local volumes). Written by attach-controller; absent means any node.
	// +optional
	HardNodeAffinity string `json:"hardNodeAffinity,omitempty"`
	// RFC 3339 time at which it became a healthy copy. Written by attach-controller; absent means it is not healthy yet.
	// +optional
	HealthyAt string `json:"healthyAt,omitempty"`
	// Engine image to run. Written by attach-controller; absent means none.
	// +optional
	Image string `json:"image,omitempty"`
	// RFC 3339 time at which it failed last; never cleared. Written by attach-controller; absent means it never
	// failed.
	// +optional
	LastFailedAt string `json:"lastFailedAt,omitempty"`
	// RFC 3339 time at which it was last observed to be a healthy copy; never cleared. Written by attach-controller; absent
	// means it never was.
	// +optional
	LastHealthyAt string `json:"lastHealthyAt,omitempty"`
	// Replica of the source volume whose snapshot it shares. Written by attach-controller; absent means no linked
	// clone.
	// +optional
	LinkedCloneSrcReplicaName string `json:"linkedCloneSrcReplicaName,omitempty"`
	// Whether its log must be fetched. Written by Longhorn; absent means false.
	// +optional
	LogRequested bool `json:"logRequested,omitempty"`
	// Engine of a migration that also uses it. Written by attach-controller; absent means no migration.
	// +optional
	MigrationEngineName string `json:"migrationEngineName,omitempty"`
	// Node that holds its data. Written by attach-controller; absent means not placed yet.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// How often its rebuild was tried again. Written by attach-controller; absent means 0.
	// +optional
	RebuildRetryCount int `json:"rebuildRetryCount,omitempty"`
	// Whether it no longer counts its writes (v1). Written by attach-controller; absent means false.
	// +optional
	RevisionCounterDisabled bool `json:"revisionCounterDisabled,omitempty"`
	// Whether it must start although it had failed. Written by attach-controller; absent means false.
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
	// Whether trimming marks the snapshots of the chain as removed. Written by attach-controller; absent means
	// false.
	// +optional
	UnmapMarkDiskChainRemovedEnabled bool `json:"unmapMarkDiskChainRemovedEnabled,omitempty"`
	// Volume that it belongs to. Written by attach-controller; absent means unknown.
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// Size of the volume in bytes, as a decimal string. Written by attach-controller; absent means 0, not known.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	VolumeSize int64 `json:"volumeSize,omitempty,string"`
}

// ReplicaStatus is what im-monitor observed of the replica; the only writer, except for the fields that name another one.
// +kubebuilder:pruning:PreserveUnknownFields
type ReplicaStatus struct {
	// The observations for people and peer controllers, one writer per type. Written by the writer of each type; absent means
	// nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Image that it runs with; of v2 that of its instance manager. Written by im-monitor; absent means it does not run.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// Its observed state: running, suspended, stopped, error, starting, stopping, unknown or terminated. Written by
	// im-monitor; absent means not checked yet.
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// InstanceManager that runs it. Written by im-monitor; absent means it does not run.
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// IP of the pod of that InstanceManager. Written by im-monitor; absent means it does not run.
	// +optional
	IP string `json:"ip,omitempty"`
	// Whether its log was fetched. Written by Longhorn; absent means false.
	// +optional
	LogFetched bool `json:"logFetched,omitempty"`
	// The Engine.spec.lookRequestedAt with which a poll was requested for its removal, after its deletion was read: an engine whose
	// status.lookedAt is exactly this was polled since. Written by attach-controller; absent means none was requested.
	// +optional
	LookRequestedAt string `json:"lookRequestedAt,omitempty"`
	// Node whose controller manages it: spec.nodeID while that node is not down, else the one that serves in its
	// place. Written by im-monitor; absent means it is stopped, or not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Port that its data path listens on. Written by im-monitor; absent means it does not run.
	// +optional
	Port int `json:"port,omitempty"`
	// Whether it was started although it had failed. Written by im-monitor; absent means false.
	// +optional
	SalvageExecuted bool `json:"salvageExecuted,omitempty"`
	// Whether the instance was created for the present desireState. Written by im-monitor; absent means false.
	// +optional
	Started bool `json:"started,omitempty"`
	// Whether a create call may have been sent; it is written before the call. Written by im-monitor; absent means
	// false.
	// +optional
	Starting bool `json:"starting,omitempty"`
	// IP of its data path: that of the pod, or of the storage network. Written by im-monitor; absent means it does
	// not run.
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// Number of its ublk device. Written by im-monitor; absent means it has none.
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// UUID of the runtime instance: of the process (v1) or of the head lvol (v2). Written by im-monitor; absent
	// means it does not run, or the server does not report it.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=replicas,shortName=lhr,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.volumeName`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:selectablefield:JSONPath=`.spec.diskID`
// +kubebuilder:selectablefield:JSONPath=`.status.instanceManagerName`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.currentState`
// +kubebuilder:printcolumn:name="Wanted",type=string,JSONPath=`.spec.desireState`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="Failed",type=string,JSONPath=`.spec.failedAt`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="NodeDown")].reason`
// +kubebuilder:printcolumn:name="Removal",type=string,JSONPath=`.status.conditions[?(@.type=="DataRemovalApproved")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volumeName`,priority=1
// +kubebuilder:printcolumn:name="Disk",type=string,JSONPath=`.spec.diskID`,priority=1
// +kubebuilder:printcolumn:name="Instance Manager",type=string,JSONPath=`.status.instanceManagerName`,priority=1
// +kubebuilder:printcolumn:name="UUID",type=string,JSONPath=`.status.uuid`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="DataRemovalApproved")].message`,priority=1

// Replica is one copy of a volume's data on one disk, and the process that serves it.
type Replica struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ReplicaSpec `json:"spec,omitzero"`
	// +optional
	Status ReplicaStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ReplicaList is a list of Replica objects.
type ReplicaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Replica `json:"items"`
}
