package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EngineSpec
// +kubebuilder:pruning:PreserveUnknownFields
type EngineSpec struct {
	// +optional
	Active bool `json:"active,omitempty"`
	// +optional
	BackupVolume string `json:"backupVolume,omitempty"`
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	DesireState string `json:"desireState,omitempty"`
	// +optional
	DisableFrontend bool `json:"disableFrontend,omitempty"`
	// +kubebuilder:validation:Enum=blockdev;iscsi;nvmf;ublk;""
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// +optional
	Image string `json:"image,omitempty"`
	// +optional
	LogRequested bool `json:"logRequested,omitempty"`
	// +optional
	LookRequestedAt string `json:"lookRequestedAt,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	RebuildConcurrentSyncLimit int `json:"rebuildConcurrentSyncLimit,omitempty"`
	// +optional
	ReplicaAddressMap map[string]string `json:"replicaAddressMap,omitempty"`
	// +optional
	RequestedBackupRestore string `json:"requestedBackupRestore,omitempty"`
	// +optional
	RequestedDataSource string `json:"requestedDataSource,omitempty"`
	// +optional
	RevisionCounterDisabled bool `json:"revisionCounterDisabled,omitempty"`
	// +optional
	SalvageRequested bool `json:"salvageRequested,omitempty"`
	// +optional
	SnapshotMaxCount int `json:"snapshotMaxCount,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	SnapshotMaxSize int64 `json:"snapshotMaxSize,omitempty,string"`
	// +optional
	UblkNumberOfQueue int `json:"ublkNumberOfQueue,omitempty"`
	// +optional
	UblkQueueDepth int `json:"ublkQueueDepth,omitempty"`
	// +optional
	UnmapMarkSnapChainRemovedEnabled bool `json:"unmapMarkSnapChainRemovedEnabled,omitempty"`
	// +optional
	UpgradedReplicaAddressMap map[string]string `json:"upgradedReplicaAddressMap,omitempty"`
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	VolumeSize int64 `json:"volumeSize,omitempty,string"`
}

// EngineStatus
// +kubebuilder:pruning:PreserveUnknownFields
type EngineStatus struct {
	// +nullable
	// +optional
	BackupStatus map[string]EngineBackupStatus `json:"backupStatus,omitempty"`
	// +nullable
	// +optional
	CloneStatus map[string]SnapshotCloneStatus `json:"cloneStatus,omitempty"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// +nullable
	// +optional
	CurrentReplicaAddressMap map[string]string `json:"currentReplicaAddressMap,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	CurrentSize int64 `json:"currentSize,omitempty,string"`
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// +optional
	IP string `json:"ip,omitempty"`
	// +optional
	IsExpanding bool `json:"isExpanding,omitempty"`
	// +optional
	LastExpansionError string `json:"lastExpansionError,omitempty"`
	// +optional
	LastExpansionFailedAt string `json:"lastExpansionFailedAt,omitempty"`
	// +optional
	LastRestoredBackup string `json:"lastRestoredBackup,omitempty"`
	// +optional
	LogFetched bool `json:"logFetched,omitempty"`
	// +optional
	LookedAt string `json:"lookedAt,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Port int `json:"port,omitempty"`
	// +nullable
	// +optional
	PurgeStatus map[string]PurgeStatus `json:"purgeStatus,omitempty"`
	// +optional
	RebuildConcurrentSyncLimit int `json:"rebuildConcurrentSyncLimit,omitempty"`
	// +nullable
	// +optional
	RebuildStatus map[string]RebuildStatus `json:"rebuildStatus,omitempty"`
	// +nullable
	// +optional
	ReplicaModeMap map[string]string `json:"replicaModeMap,omitempty"`
	// +optional
	ReplicaTransitionTimeMap map[string]string `json:"replicaTransitionTimeMap,omitempty"`
	// +nullable
	// +optional
	RestoreStatus map[string]RestoreStatus `json:"restoreStatus,omitempty"`
	// +optional
	SalvageExecuted bool `json:"salvageExecuted,omitempty"`
	// +optional
	SnapshotMaxCount int `json:"snapshotMaxCount,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	SnapshotMaxSize int64 `json:"snapshotMaxSize,omitempty,string"`
	// +nullable
	// +optional
	Snapshots map[string]SnapshotInfo `json:"snapshots,omitempty"`
	// +optional
	SnapshotsError string `json:"snapshotsError,omitempty"`
	// +optional
	Started bool `json:"started,omitempty"`
	// +optional
	Starting bool `json:"starting,omitempty"`
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// +optional
	UnmapMarkSnapChainRemovedEnabled bool `json:"unmapMarkSnapChainRemovedEnabled,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// EngineBackupStatus
// +kubebuilder:pruning:PreserveUnknownFields
type EngineBackupStatus struct {
	// +optional
	BackupURL string `json:"backupURL,omitempty"`
	// +optional
	Error string `json:"error,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	ReplicaAddress string `json:"replicaAddress,omitempty"`
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// SnapshotCloneStatus
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotCloneStatus struct {
	// +optional
	Error string `json:"error,omitempty"`
	// +optional
	FromReplicaAddress string `json:"fromReplicaAddress,omitempty"`
	// +optional
	IsCloning bool `json:"isCloning,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// PurgeStatus
// +kubebuilder:pruning:PreserveUnknownFields
type PurgeStatus struct {
	// +optional
	Error string `json:"error,omitempty"`
	// +optional
	IsPurging bool `json:"isPurging,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// RebuildStatus
// +kubebuilder:pruning:PreserveUnknownFields
type RebuildStatus struct {
	// +optional
	AppliedRebuildingMBps int64 `json:"appliedRebuildingMBps,omitempty"`
	// +optional
	Error string `json:"error,omitempty"`
	// +optional
	FromReplicaAddress string `json:"fromReplicaAddress,omitempty"`
	// +optional
	FromReplicaAddressList []string `json:"fromReplicaAddressList,omitempty"`
	// +optional
	IsRebuilding bool `json:"isRebuilding,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// RestoreStatus
// +kubebuilder:pruning:PreserveUnknownFields
type RestoreStatus struct {
	// +optional
	BackupURL string `json:"backupURL,omitempty"`
	// +optional
	CurrentRestoringBackup string `json:"currentRestoringBackup,omitempty"`
	// +optional
	Error string `json:"error,omitempty"`
	// +optional
	Filename string `json:"filename,omitempty"`
	// +optional
	IsRestoring bool `json:"isRestoring,omitempty"`
	// +optional
	LastRestored string `json:"lastRestored,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// SnapshotInfo
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotInfo struct {
	// +nullable
	// +optional
	Children map[string]bool `json:"children,omitempty"`
	// +optional
	Created string `json:"created,omitempty"`
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Parent string `json:"parent,omitempty"`
	// +optional
	Removed bool `json:"removed,omitempty"`
	// +optional
	Size string `json:"size,omitempty"`
	// +optional
	UserCreated bool `json:"usercreated,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=engines,shortName=lhe,scope=Namespaced,categories=longhorn

// Engine
type Engine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EngineSpec   `json:"spec,omitzero"`
	Status EngineStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// EngineList is a list of Engine objects.
type EngineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Engine `json:"items"`
}
