// Package engine decides what a poll of a running engine means: what Engine.status reports of its replicas, snapshots, size and
// copies, which calls bring the engine nearer to its spec, and when to poll again. It calls nothing.
//
//	in the spec, not listed         → add it: one at a time, nothing else meanwhile
//	listed, not in the spec         → remove it, while another one that stays is RW
//	smaller than the spec           → expand
//	a copy or a restore is asked    → begin it once; what came of it stays in the status
package engine
