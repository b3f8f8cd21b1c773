package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackingImageSpec
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageSpec struct {
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	DiskFileSpecMap map[string]BackingImageDiskFileSpec `json:"diskFileSpecMap,omitempty"`
	// +optional
	DiskSelector []string `json:"diskSelector,omitempty"`
	// +optional
	Disks map[string]string `json:"disks,omitempty"`
	// +optional
	MinNumberOfCopies int `json:"minNumberOfCopies,omitempty"`
	// +optional
	NodeSelector []string `json:"nodeSelector,omitempty"`
	// +optional
	Secret string `json:"secret,omitempty"`
	// +optional
	SecretNamespace string `json:"secretNamespace,omitempty"`
	// +optional
	SourceParameters map[string]string `json:"sourceParameters,omitempty"`
	// +kubebuilder:validation:Enum=download;upload;export-from-volume;restore;clone
	// +optional
	SourceType string `json:"sourceType,omitempty"`
}

// BackingImageStatus
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageStatus struct {
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// +nullable
	// +optional
	DiskFileStatusMap map[string]BackingImageDiskFileStatus `json:"diskFileStatusMap,omitempty"`
	// +nullable
	// +optional
	DiskLastRefAtMap map[string]string `json:"diskLastRefAtMap,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	RealSize int64 `json:"realSize,omitempty"`
	// +optional
	Size int64 `json:"size,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	V2FirstCopyDisk string `json:"v2FirstCopyDisk,omitempty"`
	// +optional
	V2FirstCopyStatus string `json:"v2FirstCopyStatus,omitempty"`
	// +optional
	VirtualSize int64 `json:"virtualSize,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// BackingImageDiskFileSpec
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDiskFileSpec struct {
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
}

// BackingImageDiskFileStatus
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDiskFileStatus struct {
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	LastStateTransitionTime string `json:"lastStateTransitionTime,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backingimages,shortName=lhbi,scope=Namespaced,categories=longhorn

// BackingImage
type BackingImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackingImageSpec   `json:"spec,omitzero"`
	Status BackingImageStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackingImageList is a list of BackingImage objects.
type BackingImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackingImage `json:"items"`
}
