package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EngineImageSpec names the image.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineImageSpec struct {
	// The image, as Volumes, Engines and Replicas name it. Written by a person, and by im-monitor for the setting
	// default-engine-image; absent means unknown.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^ \\t\\n;,\"']+$")`,message="spec.image must be one image, such as longhornio/longhorn-engine:v1.12.0, without blanks"
	// +optional
	Image string `json:"image,omitempty"`
}

// EngineImageStatus is what the image's binary reports about itself, and where it lies.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineImageStatus struct {
	// The versions that the binary reports.
	EngineVersions `json:",inline"`
	// What is known of the image; Longhorn's type is ready, in lower case. Written by im-monitor; absent means nothing is
	// known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Whether a running Longhorn of now could not use the image: its command line is too old or too new. Written by
	// im-monitor; absent means no, or not known yet.
	// +optional
	Incompatible bool `json:"incompatible,omitempty"`
	// Whether the pod that puts the binary on a node is ready, by the node's name. Written by im-monitor; absent means no
	// node.
	// +nullable
	// +optional
	NodeDeploymentMap map[string]bool `json:"nodeDeploymentMap,omitempty"`
	// Since when nothing refers to the image, as RFC 3339 time: an image that is not the default goes an hour later. Written
	// by im-monitor; absent or empty means that something refers to it, or that this is not known yet.
	// +optional
	NoRefSince string `json:"noRefSince,omitempty"`
	// Node whose controller manages it. Written by Longhorn; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Number of Volumes, Engines and Replicas that name the image in their spec or run it. Written by im-monitor; absent
	// means 0, or not counted yet.
	// +optional
	RefCount int `json:"refCount,omitempty"`
	// Its progress: deploying or deployed. Written by im-monitor; absent means unknown.
	// +optional
	State string `json:"state,omitempty"`
}

// EngineVersions are the versions that an engine binary reports.
type EngineVersions struct {
	// Time at which the binary was built. Written by im-monitor; absent means unknown.
	// +optional
	BuildDate string `json:"buildDate,omitempty"`
	// Version of the command line that the binary understands: a flag that it does not know ends a replica at once, and has
	// no effect on an engine. Written by im-monitor; absent means 0, not known.
	// +optional
	CLIAPIVersion int `json:"cliAPIVersion,omitempty"`
	// Oldest version of the command line whose flags the binary still understands. Written by im-monitor; absent means 0, not
	// known.
	// +optional
	CLIAPIMinVersion int `json:"cliAPIMinVersion,omitempty"`
	// Version of the calls that the binary's engines answer. Written by im-monitor; absent means 0, not known.
	// +optional
	ControllerAPIVersion int `json:"controllerAPIVersion,omitempty"`
	// Oldest version of these calls that they still answer. Written by im-monitor; absent means 0, not known.
	// +optional
	ControllerAPIMinVersion int `json:"controllerAPIMinVersion,omitempty"`
	// Version of the data that its replicas write. Written by im-monitor; absent means 0, not known.
	// +optional
	DataFormatVersion int `json:"dataFormatVersion,omitempty"`
	// Oldest version of data that they still read. Written by im-monitor; absent means 0, not known.
	// +optional
	DataFormatMinVersion int `json:"dataFormatMinVersion,omitempty"`
	// Commit from which the binary was built. Written by im-monitor; absent means unknown.
	// +optional
	GitCommit string `json:"gitCommit,omitempty"`
	// Version of the engine. Written by im-monitor; absent means unknown.
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

// EngineImage is a v1 engine binary on the hosts: im-monitor deploys it, and reads which flags its processes understand.
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
