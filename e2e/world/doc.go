// Package world runs a complete Drover on one machine: a real API server, the simulator and the controllers, each a
// process of its own with its own ServiceAccount and its own generated Role. The demo, the scenarios, the fault
// harness and the benchmarks run in it.
//
// Without attach-controller a World does its work: it creates Volume, Engine and Replica CRs as attach-controller does,
// and starts and stops their instances as im-monitor's executor does. It uses the custom resources and the simulator's
// control endpoint, and no internals of a controller.
package world
