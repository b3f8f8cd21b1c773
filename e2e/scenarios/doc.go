// Package scenarios runs what users do with Drover and checks the result, on a real API server with the real binaries
// and the simulator. The list is in docs; each test names its scenario (O1, O2, …) and the invariants it proves.
//
// A Scenario has three parts, so that the fault harness can run it repeatedly: Setup creates the initial state, Act is
// what people and the environment do, and End is the state that must be reached after any crash in between.
package scenarios
