// Package whole tells upgrades from end to end: upgrade-controller beside attach-controller and im-monitor, each as a
// process of its own under its own Role, the simulator as the data plane, and a workload that never stops on each volume.
package whole
