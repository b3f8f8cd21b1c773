package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EngineImageSpec names the image.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineImageSpec struct {
	// The image, as Volumes, Engines and Replicas name it. Written by a person; absent means unknown.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^ \\t\\n;,\"']+$")`,message="spec.image must be one image, such as longhornio/longhorn-engine:v1.12.0, without blanks"
	// +optional
	Image string `json:"image,omitempty"`
}

// EngineImageStatus is what the image's binary reports about itself, and where it lies.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineImageStatus struct {
	// Version of the command line that the binary understands: a flag that it does not know ends a replica at once, and has
	// no effect on an engine. Written by Longhorn; absent means 0, not known.
	// +optional
	CLIAPIVersion int `json:"cliAPIVersion,omitempty"`
	// Oldest version of the command line whose flags the binary still understands. Written by Longhorn; absent means 0, not
	// known.
	// +optional
	CLIAPIMinVersion int `json:"cliAPIMinVersion,omitempty"`
	// What is known of the image; Longhorn's type is ready, in lower case. Written by Longhorn; absent means nothing is
	// known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Whether the pod that puts the binary on a node is ready, by the node's name. Written by Longhorn; absent means no
	// node.
	// +nullable
	// +optional
	NodeDeploymentMap map[string]bool `json:"nodeDeploymentMap,omitempty"`
	// Node whose controller manages it. Written by Longhorn; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Its progress: deploying, deployed, ready, incompatible or error. Written by Longhorn; absent means unknown.
	// +optional
	State string `json:"state,omitempty"`
	// Version of the engine. Written by Longhorn; absent means unknown.
	// +optional
	Version string `json:"version,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=engineimages,shortName=lhei,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="CLI",type=integer,JSONPath=`.status.cliAPIVersion`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="ready")].message`,priority=1

// EngineImage is a v1 engine binary on the hosts. Longhorn deploys it; im-monitor reads which flags its processes understand.
type EngineImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec EngineImageSpec `json:"spec,omitzero"`
	// +optional
	Status EngineImageStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// EngineImageList is a list of EngineImage objects.
type EngineImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EngineImage `json:"items"`
}
