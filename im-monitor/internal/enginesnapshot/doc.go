// Package enginesnapshot evaluates a complete poll of a volume's running engine for the Snapshot objects of that
// volume, and decides which calls make the engine's snapshots match what was approved. It does no I/O and has
// no clock. snapshot-controller decides the policy (tickets, limits, what may be removed).
//
//	requested, not in the engine ......... take it; the next poll shows the result
//	requested, in the engine ............. Provisioned: Taken, or Adopted where it existed before the request
//	requested, deleted before a call ..... Provisioned: Cancelled; where a call failed, after a re-verification
//	deleted, removal approved ............ remove, all of the volume in one call, and purge once (v1; v2 merges at once)
//	the engine refused, or its purge ended with an error ... RemovalFailed; retried once the removal is approved again
//	in the engine, no object ............. an object is created, after a re-verification
//	an object, not in the engine ......... Withdrawn, by two polls some seconds apart, or one after our own removal
//
// A poll counts only if it is of the volume's active engine, lists volume-head and was answered by a replica that is
// RW: an engine without one lists nothing. Objects of another Volume of the same name (by UID) are not changed. Where the
// engine's owner is not known, nothing is decided.
package enginesnapshot
