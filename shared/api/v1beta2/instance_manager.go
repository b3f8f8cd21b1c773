package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InstanceManagerSpec
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceManagerSpec struct {
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	DataEngineSpec DataEngineSpec `json:"dataEngineSpec,omitzero"`
	// +optional
	Image string `json:"image,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +kubebuilder:validation:Enum=aio;engine;replica
	// +optional
	Type string `json:"type,omitempty"`
}

// InstanceManagerStatus
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceManagerStatus struct {
	// +optional
	APIMinVersion int `json:"apiMinVersion,omitempty"`
	// +optional
	APIVersion int `json:"apiVersion,omitempty"`
	// +nullable
	// +optional
	BackingImages map[string]BackingImageOfInstanceManager `json:"backingImages,omitempty"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// +optional
	DataEngineStatus DataEngineStatus `json:"dataEngineStatus,omitzero"`
	// +optional
	InstanceEngineFrontends map[string]InstanceProcess `json:"instanceEngineFrontends,omitempty"`
	// +nullable
	// +optional
	InstanceEngines map[string]InstanceProcess `json:"instanceEngines,omitempty"`
	// +optional
	InstanceReplicas map[string]InstanceProcess `json:"instanceReplicas,omitempty"`
	// +optional
	InstanceShardGroups map[string]InstanceProcess `json:"instanceShardGroups,omitempty"`
	// +optional
	InstanceShards map[string]InstanceProcess `json:"instanceShards,omitempty"`
	// +optional
	IP string `json:"ip,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	ProxyAPIMinVersion int `json:"proxyApiMinVersion,omitempty"`
	// +optional
	ProxyAPIVersion int `json:"proxyApiVersion,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// DataEngineSpec
// +kubebuilder:pruning:PreserveUnknownFields
type DataEngineSpec struct {
	// +optional
	V2 V2DataEngineSpec `json:"v2,omitzero"`
}

// V2DataEngineSpec
// +kubebuilder:pruning:PreserveUnknownFields
type V2DataEngineSpec struct {
	// +kubebuilder:validation:Enum="";true;false
	// +optional
	CPUIsolationEnabled string `json:"cpuIsolationEnabled,omitempty"`
	// +optional
	CPUMask string `json:"cpuMask,omitempty"`
}

// BackingImageOfInstanceManager
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageOfInstanceManager struct {
	// +optional
	CurrentChecksum string `json:"currentChecksum,omitempty"`
	// +optional
	DiskUUID string `json:"diskUUID,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	Size int64 `json:"size,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
}

// DataEngineStatus
// +kubebuilder:pruning:PreserveUnknownFields
type DataEngineStatus struct {
	// +optional
	V2 V2DataEngineStatus `json:"v2,omitzero"`
}

// V2DataEngineStatus
// +kubebuilder:pruning:PreserveUnknownFields
type V2DataEngineStatus struct {
	// +optional
	CPUCoreNumber int64 `json:"cpuCoreNumber,omitempty"`
	// +optional
	CPUMask string `json:"cpuMask,omitempty"`
	// +kubebuilder:validation:Enum="";true;false
	// +optional
	InterruptModeEnabled string `json:"interruptModeEnabled,omitempty"`
}

// InstanceProcess
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceProcess struct {
	// +optional
	Spec InstanceProcessSpec `json:"spec,omitzero"`
	// +optional
	Status InstanceProcessStatus `json:"status,omitzero"`
}

// InstanceProcessSpec
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceProcessSpec struct {
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
}

// InstanceProcessStatus
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceProcessStatus struct {
	// +optional
	ActivePath string `json:"activePath,omitempty"`
	// +nullable
	// +optional
	Conditions map[string]bool `json:"conditions,omitempty"`
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// +optional
	ErrorMsg string `json:"errorMsg,omitempty"`
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// +optional
	Listen string `json:"listen,omitempty"`
	// +optional
	Paths []NvmeTCPPath `json:"paths,omitempty"`
	// +optional
	PortEnd int32 `json:"portEnd,omitempty"`
	// +optional
	PortStart int32 `json:"portStart,omitempty"`
	// +optional
	PreferredPath string `json:"preferredPath,omitempty"`
	// +optional
	ResourceVersion int64 `json:"resourceVersion,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
	// +optional
	TargetPortEnd int32 `json:"targetPortEnd,omitempty"`
	// +optional
	TargetPortStart int32 `json:"targetPortStart,omitempty"`
	// +optional
	Type string `json:"type,omitempty"`
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=instancemanagers,shortName=lhim,scope=Namespaced,categories=longhorn

// InstanceManager
type InstanceManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   InstanceManagerSpec   `json:"spec,omitzero"`
	Status InstanceManagerStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// InstanceManagerList is a list of InstanceManager objects.
type InstanceManagerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InstanceManager `json:"items"`
}
