// Package trouble tells what becomes of an upgrade when something fails: in each state of a node's upgrade, with a workload
// that never stops and a guard that watches all the time; and what people see of it.
package failures
