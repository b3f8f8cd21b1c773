// Package election lets a part of a controller take over the role of another program. The part acts only while this process
// holds that program's lease, so that both never act together. Losing the lease stops only that part; winning it again
// enqueues everything again.
package election
