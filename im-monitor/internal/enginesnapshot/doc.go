// Package enginesnapshot decides what a whole poll of a volume's running engine means for the Snapshot objects of that
// volume, and which calls bring the engine's snapshots nearer to what was approved. It reads nothing, writes nothing and
// knows no clock. The policy (tickets, limits, what may be removed) is snapshot-controller's.
//
//	requested, not in the engine ......... take it; what came of it is seen by the next poll
//	requested, in the engine ............. Provisioned: Taken, or Adopted where it was there before
//	requested, deleted before a call ..... Provisioned: Cancelled; where a call failed, after a re-verification
//	deleted, removal approved ............ remove, all of the volume in one call, and purge once (v1; v2 merges at once)
//	the engine refused, or its purge ended with an error ... RemovalFailed; tried again once that is approved again
//	in the engine, no object ............. an object is made, after a re-verification
//	an object, not in the engine ......... Withdrawn, by two polls some seconds apart, or one after our own removal
//
// A poll counts only if it is one of the volume's active engine, lists volume-head and was answered by a replica that is
// RW: an engine without one lists nothing. Objects of another Volume of the same name (by UID) are left alone. Where the
// engine does not report whose it is, nothing is decided.
package enginesnapshot
