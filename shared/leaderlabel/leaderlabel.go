// Package leaderlabel names the labels that the leader of a binary has on its lease: people learn from them which version leads, also
// where its image is given by a digest, or it runs outside Kubernetes. An earlier version of a binary that writes none leaves those of
// a later one.
package leaderlabel

const (
	// Version is the version of the binary that leads, such as 0.1.0.
	Version = "app.kubernetes.io/version"
	// Contracts has the values of the label drover.dev/contract of custom resource definitions that the binary knows, with Join between them.
	Contracts = "drover.dev/contracts"
	// Join is between two contracts: a label has no comma.
	Join = "_"
)
