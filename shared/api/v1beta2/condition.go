package v1beta2

// Condition is one observation about an object, written by exactly one controller (the page of its kind
// in docs/crds names the writer). Its keys are those that Longhorn has always used.
// +kubebuilder:pruning:PreserveUnknownFields
type Condition struct {
	// Type names the condition; it is unique in the list.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status ConditionStatus `json:"status"`
	// LastProbeTime is the RFC 3339 time of the last observation, kept for objects that Longhorn created; Drover leaves it empty.
	// +optional
	LastProbeTime string `json:"lastProbeTime"`
	// LastTransitionTime is the RFC 3339 time at which the status last changed.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime"`
	// Reason is one word from the closed list of the condition's type.
	// +optional
	Reason string `json:"reason"`
	// Message is a full sentence for people: names, cause and next step.
	// +optional
	Message string `json:"message"`
	// ObservedGeneration is the metadata.generation that was evaluated; absent where it does not matter.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ConditionStatus is True, False or Unknown.
type ConditionStatus string

// The values of a condition's status.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)
