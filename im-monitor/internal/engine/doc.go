// Package engine evaluates a poll of a running engine: what Engine.status reports about its replicas, snapshots, size and
// copies, which calls make the engine match its spec, and when to poll again. It does no I/O.
//
//	in the spec, not listed         → add it: one at a time, no other call meanwhile
//	listed, not in the spec         → remove it, while another one that stays is RW
//	smaller than the spec           → expand
//	a copy or restore is requested  → begin it once; its result stays in the status
package engine
