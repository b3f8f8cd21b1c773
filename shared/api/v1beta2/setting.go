package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SettingStatus
// +kubebuilder:pruning:PreserveUnknownFields
type SettingStatus struct {
	// +optional
	Applied bool `json:"applied,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=settings,shortName=lhs,scope=Namespaced,categories=longhorn

// Setting
type Setting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Value  string        `json:"value"`
	Status SettingStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// SettingList is a list of Setting objects.
type SettingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Setting `json:"items"`
}
