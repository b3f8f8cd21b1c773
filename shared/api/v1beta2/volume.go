package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VolumeSpec
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeSpec struct {
	// +optional
	Standby bool `json:"Standby,omitempty"`
	// +kubebuilder:validation:Enum=rwo;rwop;rwx
	// +optional
	AccessMode string `json:"accessMode,omitempty"`
	// +optional
	BackingImage string `json:"backingImage,omitempty"`
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Enum=2097152;16777216
	// +optional
	BackupBlockSize int64 `json:"backupBlockSize,omitempty,string"`
	// +kubebuilder:validation:Enum=none;lz4;gzip
	// +optional
	BackupCompressionMethod string `json:"backupCompressionMethod,omitempty"`
	// +optional
	BackupTargetName string `json:"backupTargetName,omitempty"`
	// +kubebuilder:validation:Enum="";full-copy;linked-clone
	// +optional
	CloneMode string `json:"cloneMode,omitempty"`
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	DataLayout DataLayout `json:"dataLayout,omitzero"`
	// +kubebuilder:validation:Enum=disabled;best-effort;strict-local
	// +optional
	DataLocality string `json:"dataLocality,omitempty"`
	// +optional
	DataSource string `json:"dataSource,omitempty"`
	// +optional
	DisableFrontend bool `json:"disableFrontend,omitempty"`
	// +optional
	DiskSelector []string `json:"diskSelector,omitempty"`
	// +optional
	Encrypted bool `json:"encrypted,omitempty"`
	// +optional
	EngineNodeID string `json:"engineNodeID,omitempty"`
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	FreezeFilesystemForSnapshot string `json:"freezeFilesystemForSnapshot,omitempty"`
	// +optional
	FromBackup string `json:"fromBackup,omitempty"`
	// +kubebuilder:validation:Enum=blockdev;iscsi;nvmf;ublk;""
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// +optional
	Image string `json:"image,omitempty"`
	// +optional
	LastAttachedBy string `json:"lastAttachedBy,omitempty"`
	// +optional
	Migratable bool `json:"migratable,omitempty"`
	// +optional
	MigrationNodeID string `json:"migrationNodeID,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	NodeSelector []string `json:"nodeSelector,omitempty"`
	// +optional
	NumberOfReplicas int `json:"numberOfReplicas,omitempty"`
	// +optional
	NvmeTCPNrIOQueues int `json:"nvmeTcpNrIoQueues,omitempty"`
	// +kubebuilder:validation:Enum=ignored;disabled;enabled
	// +optional
	OfflineRebuilding string `json:"offlineRebuilding,omitempty"`
	// +optional
	RebuildConcurrentSyncLimit int `json:"rebuildConcurrentSyncLimit,omitempty"`
	// +kubebuilder:validation:Enum=ignored;disabled;least-effort;best-effort
	// +optional
	ReplicaAutoBalance string `json:"replicaAutoBalance,omitempty"`
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	ReplicaDiskSoftAntiAffinity string `json:"replicaDiskSoftAntiAffinity,omitempty"`
	// +optional
	ReplicaRebuildingBandwidthLimit int64 `json:"replicaRebuildingBandwidthLimit,omitempty"`
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	ReplicaSoftAntiAffinity string `json:"replicaSoftAntiAffinity,omitempty"`
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	ReplicaZoneSoftAntiAffinity string `json:"replicaZoneSoftAntiAffinity,omitempty"`
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	RestoreVolumeRecurringJob string `json:"restoreVolumeRecurringJob,omitempty"`
	// +optional
	RevisionCounterDisabled bool `json:"revisionCounterDisabled,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	Size int64 `json:"size,omitempty,string"`
	// +kubebuilder:validation:Enum=ignored;disabled;enabled;fast-check
	// +optional
	SnapshotDataIntegrity string `json:"snapshotDataIntegrity,omitempty"`
	// +optional
	SnapshotHashingRequestedAt string `json:"snapshotHashingRequestedAt,omitempty"`
	// +optional
	SnapshotMaxCount int `json:"snapshotMaxCount,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	SnapshotMaxSize int64 `json:"snapshotMaxSize,omitempty,string"`
	// +optional
	StaleReplicaTimeout int `json:"staleReplicaTimeout,omitempty"`
	// +optional
	TopologyRequirement []TopologyRequirement `json:"topologyRequirement,omitempty"`
	// +optional
	UblkNumberOfQueue int `json:"ublkNumberOfQueue,omitempty"`
	// +optional
	UblkQueueDepth int `json:"ublkQueueDepth,omitempty"`
	// +optional
	TargetNodeID string `json:"targetNodeID,omitempty"`
	// +kubebuilder:validation:Enum=ignored;disabled;enabled
	// +optional
	UnmapMarkSnapChainRemoved string `json:"unmapMarkSnapChainRemoved,omitempty"`
}

// VolumeStatus
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeStatus struct {
	// +optional
	ActualSize int64 `json:"actualSize,omitempty"`
	// +optional
	CloneStatus VolumeCloneStatus `json:"cloneStatus,omitzero"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	CurrentEngineNodeID string `json:"currentEngineNodeID,omitempty"`
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// +optional
	CurrentMigrationNodeID string `json:"currentMigrationNodeID,omitempty"`
	// +optional
	CurrentNodeID string `json:"currentNodeID,omitempty"`
	// +optional
	CurrentTargetNodeID string `json:"currentTargetNodeID,omitempty"`
	// +optional
	ExpansionRequired bool `json:"expansionRequired,omitempty"`
	// +optional
	FrontendDisabled bool `json:"frontendDisabled,omitempty"`
	// +optional
	IsStandby bool `json:"isStandby,omitempty"`
	// +optional
	KubernetesStatus KubernetesStatus `json:"kubernetesStatus,omitzero"`
	// +optional
	LastAutoSalvagedAt string `json:"lastAutoSalvagedAt,omitempty"`
	// +optional
	LastBackup string `json:"lastBackup,omitempty"`
	// +optional
	LastBackupAt string `json:"lastBackupAt,omitempty"`
	// +optional
	LastDegradedAt string `json:"lastDegradedAt,omitempty"`
	// +optional
	LastOnDemandSnapshotHashingCompleteAt string `json:"lastOnDemandSnapshotHashingCompleteAt,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	RemountRequestedAt string `json:"remountRequestedAt,omitempty"`
	// +optional
	RestoreInitiated bool `json:"restoreInitiated,omitempty"`
	// +optional
	RestoreRequired bool `json:"restoreRequired,omitempty"`
	// +optional
	Robustness string `json:"robustness,omitempty"`
	// +optional
	ShareEndpoint string `json:"shareEndpoint,omitempty"`
	// +optional
	ShareState string `json:"shareState,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
	// +optional
	SwitchoverState string `json:"switchoverState,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// DataLayout
// +kubebuilder:pruning:PreserveUnknownFields
type DataLayout struct {
	// +optional
	DataChunks int `json:"dataChunks,omitempty"`
	// +kubebuilder:validation:Enum=raid1;erasureCoding;""
	// +optional
	Mode string `json:"mode,omitempty"`
	// +optional
	ParityChunks int `json:"parityChunks,omitempty"`
	// +optional
	StripSizeKB int `json:"stripSizeKB,omitempty"`
	// +kubebuilder:validation:Enum=replicated;sharded;""
	// +optional
	Type string `json:"type,omitempty"`
}

// TopologyRequirement
// +kubebuilder:pruning:PreserveUnknownFields
type TopologyRequirement struct {
	// +optional
	Region string `json:"region,omitempty"`
	// +optional
	Zone string `json:"zone,omitempty"`
}

// VolumeCloneStatus
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeCloneStatus struct {
	// +optional
	AttemptCount int `json:"attemptCount,omitempty"`
	// +optional
	NextAllowedAttemptAt string `json:"nextAllowedAttemptAt,omitempty"`
	// +optional
	Snapshot string `json:"snapshot,omitempty"`
	// +optional
	SourceVolume string `json:"sourceVolume,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// KubernetesStatus
// +kubebuilder:pruning:PreserveUnknownFields
type KubernetesStatus struct {
	// +optional
	LastPVCRefAt string `json:"lastPVCRefAt,omitempty"`
	// +optional
	LastPodRefAt string `json:"lastPodRefAt,omitempty"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	PVName string `json:"pvName,omitempty"`
	// +optional
	PVStatus string `json:"pvStatus,omitempty"`
	// +optional
	PVCName string `json:"pvcName,omitempty"`
	// +nullable
	// +optional
	WorkloadsStatus []WorkloadStatus `json:"workloadsStatus,omitempty"`
}

// WorkloadStatus
// +kubebuilder:pruning:PreserveUnknownFields
type WorkloadStatus struct {
	// +optional
	PodName string `json:"podName,omitempty"`
	// +optional
	PodStatus string `json:"podStatus,omitempty"`
	// +optional
	WorkloadName string `json:"workloadName,omitempty"`
	// +optional
	WorkloadType string `json:"workloadType,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=volumes,shortName=lhv,scope=Namespaced,categories=longhorn

// Volume
type Volume struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   VolumeSpec   `json:"spec,omitzero"`
	Status VolumeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// VolumeList is a list of Volume objects.
type VolumeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Volume `json:"items"`
}
