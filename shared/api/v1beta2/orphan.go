package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OrphanSpec
// +kubebuilder:pruning:PreserveUnknownFields
type OrphanSpec struct {
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	OrphanType string `json:"orphanType,omitempty"`
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
}

// OrphanStatus
// +kubebuilder:pruning:PreserveUnknownFields
type OrphanStatus struct {
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=orphans,shortName=lho,scope=Namespaced,categories=longhorn

// Orphan
type Orphan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   OrphanSpec   `json:"spec,omitzero"`
	Status OrphanStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// OrphanList is a list of Orphan objects.
type OrphanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Orphan `json:"items"`
}
