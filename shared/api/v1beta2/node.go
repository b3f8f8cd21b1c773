package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeSpec
// +kubebuilder:pruning:PreserveUnknownFields
type NodeSpec struct {
	// +optional
	AllowScheduling bool `json:"allowScheduling,omitempty"`
	// +optional
	Disks map[string]DiskSpec `json:"disks,omitempty"`
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
	// +optional
	InstanceManagerCPURequest int `json:"instanceManagerCPURequest,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Tags []string `json:"tags,omitempty"`
	// +optional
	UpgradeRequested bool `json:"upgradeRequested,omitempty"`
}

// NodeStatus
// +kubebuilder:pruning:PreserveUnknownFields
type NodeStatus struct {
	// +optional
	AutoEvicting bool `json:"autoEvicting,omitempty"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	CPUPolicy string `json:"cpuPolicy,omitempty"`
	// +nullable
	// +optional
	DiskStatus map[string]DiskStatus `json:"diskStatus,omitempty"`
	// +optional
	Region string `json:"region,omitempty"`
	// +optional
	SnapshotCheckStatus SnapshotCheckStatus `json:"snapshotCheckStatus,omitzero"`
	// +optional
	Zone string `json:"zone,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// DiskSpec
// +kubebuilder:pruning:PreserveUnknownFields
type DiskSpec struct {
	// +optional
	AllowScheduling bool `json:"allowScheduling,omitempty"`
	// +kubebuilder:validation:Enum="";auto;aio;nvme
	// +optional
	DiskDriver string `json:"diskDriver,omitempty"`
	// +kubebuilder:validation:Enum=filesystem;block
	// +optional
	DiskType string `json:"diskType,omitempty"`
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
	// +optional
	Path string `json:"path,omitempty"`
	// +optional
	StorageReserved int64 `json:"storageReserved,omitempty"`
	// +optional
	Tags []string `json:"tags,omitempty"`
}

// DiskStatus
// +kubebuilder:pruning:PreserveUnknownFields
type DiskStatus struct {
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	DiskDriver string `json:"diskDriver,omitempty"`
	// +optional
	DiskName string `json:"diskName,omitempty"`
	// +optional
	DiskPath string `json:"diskPath,omitempty"`
	// +optional
	DiskType string `json:"diskType,omitempty"`
	// +optional
	DiskUUID string `json:"diskUUID,omitempty"`
	// +optional
	FilesystemType string `json:"filesystemType,omitempty"`
	// +optional
	HealthData map[string]DiskHealth `json:"healthData,omitempty"`
	// +optional
	HealthDataLastCollectedAt string `json:"healthDataLastCollectedAt,omitempty"`
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// +nullable
	// +optional
	ScheduledBackingImage map[string]int64 `json:"scheduledBackingImage,omitempty"`
	// +nullable
	// +optional
	ScheduledReplica map[string]int64 `json:"scheduledReplica,omitempty"`
	// +optional
	StorageAvailable int64 `json:"storageAvailable,omitempty"`
	// +optional
	StorageMaximum int64 `json:"storageMaximum,omitempty"`
	// +optional
	StorageScheduled int64 `json:"storageScheduled,omitempty"`
}

// DiskHealth
// +kubebuilder:pruning:PreserveUnknownFields
type DiskHealth struct {
	// +optional
	Attributes []DiskHealthAttribute `json:"attributes,omitempty"`
	// +optional
	Capacity int64 `json:"capacity,omitempty"`
	// +optional
	DiskName string `json:"diskName,omitempty"`
	// +optional
	DiskType string `json:"diskType,omitempty"`
	// +optional
	FirmwareVersion string `json:"firmwareVersion,omitempty"`
	// +kubebuilder:validation:Enum=FAILED;PASSED;UNKNOWN;WARNING
	// +optional
	HealthStatus string `json:"healthStatus,omitempty"`
	// +optional
	ModelName string `json:"modelName,omitempty"`
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// +kubebuilder:validation:Enum=SMART;SPDK
	// +optional
	Source string `json:"source,omitempty"`
	// +optional
	Temperature int `json:"temperature,omitempty"`
}

// DiskHealthAttribute
// +kubebuilder:pruning:PreserveUnknownFields
type DiskHealthAttribute struct {
	// +optional
	ID int `json:"id,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	RawString string `json:"rawString,omitempty"`
	// +optional
	RawValue int64 `json:"rawValue,omitempty"`
	// +optional
	Threshold int `json:"threshold,omitempty"`
	// +optional
	Value int `json:"value,omitempty"`
	// +optional
	WhenFailed string `json:"whenFailed,omitempty"`
	// +optional
	Worst int `json:"worst,omitempty"`
}

// SnapshotCheckStatus
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotCheckStatus struct {
	// +optional
	LastPeriodicCheckedAt string `json:"lastPeriodicCheckedAt,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=nodes,shortName=lhn,scope=Namespaced,categories=longhorn

// Node
type Node struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeSpec   `json:"spec,omitzero"`
	Status NodeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// NodeList is a list of Node objects.
type NodeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Node `json:"items"`
}
