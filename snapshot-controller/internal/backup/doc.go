// Package backup decides what becomes of one Backup object: when taking it is approved, when it has its volume attached,
// and when its finalizer goes.
//
//	not begun ──(Approved)──> begun by im-monitor ──> Completed or Error: final, nothing is held for it
//
// A Backup with a snapshot is an intent. The approval is the condition Approved; a waiting Backup shows there for what, and holds
// a ticket only while that would help. From the ticket on until the end the volume is held attached: an engine that stops
// loses what it copies. The evidence is im-monitor's: state, progress and error.
//
// A Backup outlives its volume. A Backup without a snapshot describes what a target has. If a Backup is deleted, its data is removed from
// the target first, unless that is not the target any more in which the data is, or nobody asked for the data to go: removal.go.
package backup
