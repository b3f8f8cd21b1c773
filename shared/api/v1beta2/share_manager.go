package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ShareManagerSpec
// +kubebuilder:pruning:PreserveUnknownFields
type ShareManagerSpec struct {
	// +optional
	Image string `json:"image,omitempty"`
}

// ShareManagerStatus
// +kubebuilder:pruning:PreserveUnknownFields
type ShareManagerStatus struct {
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=sharemanagers,shortName=lhsm,scope=Namespaced,categories=longhorn

// ShareManager
type ShareManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ShareManagerSpec   `json:"spec,omitzero"`
	Status ShareManagerStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ShareManagerList is a list of ShareManager objects.
type ShareManagerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ShareManager `json:"items"`
}
