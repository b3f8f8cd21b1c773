package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackingImageDataSourceSpec
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDataSourceSpec struct {
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// +optional
	DiskPath string `json:"diskPath,omitempty"`
	// +optional
	DiskUUID string `json:"diskUUID,omitempty"`
	// +optional
	FileTransferred bool `json:"fileTransferred,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// +kubebuilder:validation:Enum=download;upload;export-from-volume;restore;clone
	// +optional
	SourceType string `json:"sourceType,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
}

// BackingImageDataSourceStatus
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDataSourceStatus struct {
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// +optional
	IP string `json:"ip,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +nullable
	// +optional
	RunningParameters map[string]string `json:"runningParameters,omitempty"`
	// +optional
	Size int64 `json:"size,omitempty"`
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backingimagedatasources,shortName=lhbids,scope=Namespaced,categories=longhorn

// BackingImageDataSource
type BackingImageDataSource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackingImageDataSourceSpec   `json:"spec,omitzero"`
	Status BackingImageDataSourceStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackingImageDataSourceList is a list of BackingImageDataSource objects.
type BackingImageDataSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackingImageDataSource `json:"items"`
}
