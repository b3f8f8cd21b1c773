package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ShareManagerSpec is what the share needs.
// +kubebuilder:pruning:PreserveUnknownFields
type ShareManagerSpec struct {
	// Image of the pod. Written by Longhorn; absent means none.
	// +optional
	Image string `json:"image,omitempty"`
}

// ShareManagerStatus is where the share is.
// +kubebuilder:pruning:PreserveUnknownFields
type ShareManagerStatus struct {
	// Image that the pod runs with. Written by Longhorn; absent means it does not run.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// URL of the share. Written by Longhorn; absent means it is not shared.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// Node that manages the share; the volume follows it. Written by Longhorn; absent means none.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// unknown, starting, running, stopping, stopped or error. Written by Longhorn; absent means not checked yet.
	// +optional
	State string `json:"state,omitempty"`
	// The metadata.generation that this status describes. Written by Longhorn; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=sharemanagers,shortName=lhsm,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.ownerID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`,priority=1
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1

// ShareManager shares an RWX volume over NFS from one pod. Its pod is outside Drover; attach-controller reads it.
type ShareManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ShareManagerSpec `json:"spec,omitzero"`
	// +optional
	Status ShareManagerStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ShareManagerList is a list of ShareManager objects.
type ShareManagerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ShareManager `json:"items"`
}
