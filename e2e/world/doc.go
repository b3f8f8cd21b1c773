// Package world is one whole Drover on one machine: a real API server, the simulator and the controllers, each a
// process of its own with its own ServiceAccount and its own generated Role. The demo, the scenarios, the fault
// harness and the benchmarks are scenarios told in it.
//
// A World also plays the parts that no binary of today has: it makes Volume, Engine and Replica CRs as
// attach-controller will, and starts and stops their instances as im-monitor's later hands will. It knows the custom
// resources and the simulator's control endpoint, and nothing of a controller's inside.
package world
