// Package endtoend runs upgrades from end to end: all five controllers, each as a process of its own under
// its own Role, the simulator as the data plane, and a workload that never stops on each volume.
package endtoend
