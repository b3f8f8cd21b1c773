package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReplicaSpec
// +kubebuilder:pruning:PreserveUnknownFields
type ReplicaSpec struct {
	// +optional
	Active bool `json:"active,omitempty"`
	// +optional
	BackingImage string `json:"backingImage,omitempty"`
	// +optional
	DataDirectoryName string `json:"dataDirectoryName,omitempty"`
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	DesireState string `json:"desireState,omitempty"`
	// +optional
	DiskID string `json:"diskID,omitempty"`
	// +optional
	DiskPath string `json:"diskPath,omitempty"`
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
	// +optional
	FailedAt string `json:"failedAt,omitempty"`
	// +optional
	HardNodeAffinity string `json:"hardNodeAffinity,omitempty"`
	// +optional
	HealthyAt string `json:"healthyAt,omitempty"`
	// +optional
	Image string `json:"image,omitempty"`
	// +optional
	LastFailedAt string `json:"lastFailedAt,omitempty"`
	// +optional
	LastHealthyAt string `json:"lastHealthyAt,omitempty"`
	// +optional
	LinkedCloneSrcReplicaName string `json:"linkedCloneSrcReplicaName,omitempty"`
	// +optional
	LogRequested bool `json:"logRequested,omitempty"`
	// +optional
	MigrationEngineName string `json:"migrationEngineName,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	RebuildRetryCount int `json:"rebuildRetryCount,omitempty"`
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
	UnmapMarkDiskChainRemovedEnabled bool `json:"unmapMarkDiskChainRemovedEnabled,omitempty"`
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	VolumeSize int64 `json:"volumeSize,omitempty,string"`
}

// ReplicaStatus
// +kubebuilder:pruning:PreserveUnknownFields
type ReplicaStatus struct {
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// +optional
	IP string `json:"ip,omitempty"`
	// +optional
	LogFetched bool `json:"logFetched,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Port int `json:"port,omitempty"`
	// +optional
	SalvageExecuted bool `json:"salvageExecuted,omitempty"`
	// +optional
	Started bool `json:"started,omitempty"`
	// +optional
	Starting bool `json:"starting,omitempty"`
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=replicas,shortName=lhr,scope=Namespaced,categories=longhorn

// Replica
type Replica struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ReplicaSpec   `json:"spec,omitzero"`
	Status ReplicaStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ReplicaList is a list of Replica objects.
type ReplicaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Replica `json:"items"`
}
