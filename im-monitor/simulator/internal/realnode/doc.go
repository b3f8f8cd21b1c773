// Package realnode runs real instance managers on nodes of their own on one machine, in the place of the simulator: each pod's process has
// a network namespace, whose link a node can lose, a mount namespace with the paths of the container image, and a PID namespace, so that
// what it started ends with it. It answers the same control endpoint as the simulator, as far as a person with a shell on such nodes can.
package realnode
