package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EngineFrontendSpec
// +kubebuilder:pruning:PreserveUnknownFields
type EngineFrontendSpec struct {
	// +optional
	Active bool `json:"active,omitempty"`
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	DesireState string `json:"desireState,omitempty"`
	// +optional
	DisableFrontend bool `json:"disableFrontend,omitempty"`
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// +kubebuilder:validation:Enum=blockdev;iscsi;nvmf;ublk;""
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// +optional
	Image string `json:"image,omitempty"`
	// +optional
	LogRequested bool `json:"logRequested,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	NvmeTCPNrIOQueues int `json:"nvmeTcpNrIoQueues,omitempty"`
	// +optional
	SalvageRequested bool `json:"salvageRequested,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	Size int64 `json:"size,omitempty,string"`
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
	// +optional
	UblkNumberOfQueue int `json:"ublkNumberOfQueue,omitempty"`
	// +optional
	UblkQueueDepth int `json:"ublkQueueDepth,omitempty"`
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// +kubebuilder:validation:Type=string
	// +optional
	VolumeSize int64 `json:"volumeSize,omitempty,string"`
}

// EngineFrontendStatus
// +kubebuilder:pruning:PreserveUnknownFields
type EngineFrontendStatus struct {
	// +optional
	ActivePath string `json:"activePath,omitempty"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
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
	LogFetched bool `json:"logFetched,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Paths []NvmeTCPPath `json:"paths,omitempty"`
	// +optional
	Port int `json:"port,omitempty"`
	// +optional
	PreferredPath string `json:"preferredPath,omitempty"`
	// +optional
	SalvageExecuted bool `json:"salvageExecuted,omitempty"`
	// +optional
	Started bool `json:"started,omitempty"`
	// +optional
	Starting bool `json:"starting,omitempty"`
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// +optional
	SwitchoverPhase string `json:"switchoverPhase,omitempty"`
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// NvmeTCPPath
// +kubebuilder:pruning:PreserveUnknownFields
type NvmeTCPPath struct {
	// +optional
	ANAState string `json:"anaState,omitempty"`
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// +optional
	NGUID string `json:"nguid,omitempty"`
	// +optional
	NQN string `json:"nqn,omitempty"`
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=enginefrontends,shortName=lhef,scope=Namespaced,categories=longhorn

// EngineFrontend
type EngineFrontend struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EngineFrontendSpec   `json:"spec,omitzero"`
	Status EngineFrontendStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// EngineFrontendList is a list of EngineFrontend objects.
type EngineFrontendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EngineFrontend `json:"items"`
}
