// Package snapshot decides what becomes of one Snapshot object: when taking it is approved, what its status contains, when
// its data may be removed, when it has its volume attached, and when its finalizer goes.
//
// A Snapshot is an intent: created with createSnapshot it asks for a snapshot, deleted it asks for the end of the data.
// The approval is requestedTime for taking, and the condition RemovalApproved for removing. The evidence is im-monitor's:
// the engine's list of snapshots, Provisioned and Withdrawn. A list that is not known proves nothing.
//
// What an engine refused, to take or to remove, is tried again after a pause that grows.
//
// Every verdict is one write; the event of that write, or of what it set in motion, brings the next decision. What waits
// explains why, from a closed list of reasons, and holds neither a ticket nor a place among the purges that it cannot use.
package snapshot
