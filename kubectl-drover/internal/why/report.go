// Package why explains one volume: who wants it, what is done about it, and the chain of causes from the volume down to the pod, node,
// instance manager or disk that holds it up. It derives all of it from objects that were read before; it imports no client.
package why

import (
	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// Report is the explanation of one volume.
type Report struct {
	Volume    string `json:"volume"`
	Namespace string `json:"namespace"`
	// Summary is a sentence: is the volume where it is wanted, and what stands against it.
	Summary    string `json:"summary"`
	State      string `json:"state"`
	Robustness string `json:"robustness"`
	DataEngine string `json:"dataEngine"`
	// SizeBytes is spec.size.
	SizeBytes int64 `json:"sizeBytes"`
	// WantedOn is the node of the ticket that holds the volume, AttachedTo that where it is.
	WantedOn   string   `json:"wantedOn,omitempty"`
	AttachedTo string   `json:"attachedTo,omitempty"`
	Tickets    []Ticket `json:"tickets"`
	Causes     []Cause  `json:"causes"`
	Next       []Step   `json:"next"`
	// Severity is that of the worst cause.
	Severity finding.Severity `json:"severity"`
	Unread   []world.Unread   `json:"unread,omitempty"`

	now clock
}

// Ticket is who wants the volume, and what that one was answered.
type Ticket struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Node string `json:"node"`
	// For is the pod, person or object that the ticket is for, in words.
	For       string `json:"for"`
	Priority  int    `json:"priority"`
	Holds     bool   `json:"holds"`
	Satisfied bool   `json:"satisfied"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	Since     string `json:"since,omitempty"`
}

// Cause is one finding, and what is behind it.
type Cause struct {
	finding.Finding
	Causes []Cause `json:"causes,omitempty"`
}

// Step is a command to type, and about what.
type Step struct {
	Command string `json:"command"`
	// For is the object and reason that it mends or shows.
	For string `json:"for"`
	// Guide is the page about the reason.
	Guide string `json:"guide,omitempty"`
}
