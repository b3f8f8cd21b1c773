// Package guides runs the commands that README and guides show: on the system of the demo, or on an empty control plane where they
// install something. What a page shows as output is compared in shape. It is a module of its own, because kubectl and Helm are built into
// its test, and their dependencies must not steer the product's.
//
// A command is a line of a block with the language sh, or follows "$ " in a block with the language console; its output follows it there.
// "…" in an output stands for anything. Code in a sentence counts, too, where it begins as a command does. A new command needs nothing
// here, as long as it works after the commands before it; what it needs besides is in guides (table_test.go), and why one cannot be run
// in reasons (reasons_test.go). `make` targets are run with -n. `go test -v` prints every command with its output.
package guides
