// Package scenarios tells what users do with Drover and what must come out, on a real API server with the real
// binaries and the simulator. The list is in docs; each test names its line (O1, O2, …) and the invariants it proves.
//
// A scenario is a scenario in three parts, so that the fault harness can tell it again and again: what is there before,
// what people and the world do, and the end that must be reached whatever dies in between.
package scenarios
