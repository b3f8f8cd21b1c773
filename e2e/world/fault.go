package world

import "context"

// Fault is a rule by which the simulator misbehaves; the simulator's own documentation describes each kind. Empty
// selectors mean all.
type Fault struct {
	Kind       string   `json:"kind"`
	Mode       string   `json:"mode,omitempty"`
	Node       string   `json:"node,omitempty"`
	Pod        string   `json:"pod,omitempty"`
	DataEngine string   `json:"dataEngine,omitempty"`
	Method     string   `json:"method,omitempty"`
	Names      []string `json:"names,omitempty"`
	Delay      string   `json:"delay,omitempty"`
	Code       string   `json:"code,omitempty"`
	After      bool     `json:"after,omitempty"`
	Fraction   float64  `json:"fraction,omitempty"`
	Times      int      `json:"times,omitempty"`
}

// Hang blocks all traffic of the node's instance managers, while their connections stay open.
func (w *World) Hang(ctx context.Context, node string) error {
	return w.Inject(ctx, Fault{Kind: "partition", Mode: "blackhole", Node: node})
}

// Part closes the connections to the node's instance managers and refuses new ones.
func (w *World) Part(ctx context.Context, node string) error {
	return w.Inject(ctx, Fault{Kind: "partition", Mode: "cut", Node: node})
}
