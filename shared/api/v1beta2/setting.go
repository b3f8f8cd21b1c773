package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SettingStatus tells whether a setting is in force.
// +kubebuilder:pruning:PreserveUnknownFields
type SettingStatus struct {
	// Whether the value is in force; false beside a value that cannot be read: the last good one is then still in
	// force. Written by the controller that reads the setting; absent means false.
	// +optional
	Applied bool `json:"applied,omitempty"`
	// The metadata.generation that this status describes. Written by the controller that reads the setting; absent
	// means not told.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=settings,shortName=lhs,scope=Namespaced,categories=longhorn

// Setting is one named value that a person sets for the whole system.
type Setting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Value string `json:"value"`
	// What was seen and decided.
	// +optional
	Status SettingStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// SettingList is a list of Setting objects.
type SettingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Setting `json:"items"`
}
