// Package failures injects failures into an upgrade: in each state of a node's upgrade, with a workload that never stops and
// a watch checker that runs all the time. It also checks what people see of it.
package failures
