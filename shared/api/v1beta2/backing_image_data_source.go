package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackingImageDataSourceSpec is where the first copy is created.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDataSourceSpec struct {
	// SHA-512 that the image must have. Written by Longhorn; absent means any.
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// Path of the disk. Written by Longhorn; absent means not placed yet.
	// +optional
	DiskPath string `json:"diskPath,omitempty"`
	// UUID of the disk. Written by Longhorn; absent means not placed yet.
	// +optional
	DiskUUID string `json:"diskUUID,omitempty"`
	// Whether the copy was handed over. Written by Longhorn; absent means false.
	// +optional
	FileTransferred bool `json:"fileTransferred,omitempty"`
	// Node of the disk. Written by Longhorn; absent means not placed yet.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// What the source type needs, such as volume-name for an export. Written by Longhorn; absent means none.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// Where the image comes from. Written by Longhorn; absent means unknown.
	// +kubebuilder:validation:Enum=download;upload;export-from-volume;restore;clone
	// +optional
	SourceType string `json:"sourceType,omitempty"`
	// UUID of the image. Written by Longhorn; absent means not decided yet.
	// +optional
	UUID string `json:"uuid,omitempty"`
}

// BackingImageDataSourceStatus is how far it is.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDataSourceStatus struct {
	// SHA-512 of the image. Written by Longhorn; absent means not computed.
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// State of the copy. Written by Longhorn; absent means not begun.
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// IP of the pod that creates it. Written by Longhorn; absent means none.
	// +optional
	IP string `json:"ip,omitempty"`
	// Sentence on its state. Written by Longhorn; absent means nothing.
	// +optional
	Message string `json:"message,omitempty"`
	// Node whose controller manages it. Written by Longhorn; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Progress in per cent. Written by Longhorn; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// Its source, with what was detected since. Written by Longhorn; absent means none.
	// +nullable
	// +optional
	RunningParameters map[string]string `json:"runningParameters,omitempty"`
	// Bytes of the image file. Written by Longhorn; absent means 0, not known.
	// +optional
	Size int64 `json:"size,omitempty"`
	// IP of the pod in the storage network. Written by Longhorn; absent means none.
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// The metadata.generation that this status describes. Written by Longhorn; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backingimagedatasources,shortName=lhbids,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.sourceType`
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.sourceType`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.currentState`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="Progress",type=integer,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Disk",type=string,JSONPath=`.spec.diskUUID`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1

// BackingImageDataSource is the first copy of a BackingImage while it is created. attach-controller holds the volume that
// one is exported from.
type BackingImageDataSource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec BackingImageDataSourceSpec `json:"spec,omitzero"`
	// +optional
	Status BackingImageDataSourceStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackingImageDataSourceList is a list of BackingImageDataSource objects.
type BackingImageDataSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackingImageDataSource `json:"items"`
}
