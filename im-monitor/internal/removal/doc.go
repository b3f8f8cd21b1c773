// Package removal decides about the data of a v2 Replica that is being deleted: whether it may be destroyed now, and what
// the condition DataRemoved reports. It implements the design's rules on destructive calls; it does no I/O
// and has no clock.
//
// Nothing happens without DataRemovalApproved. Evaluate then applies these rules in this order, and the first match is the result:
//
//	an earlier leader's call may be open . wait, report nothing
//	it was never placed .................. NothingToRemove          (end)
//	its Node does not exist .............. NodeGone                 (end)
//	its node is down ..................... Unreachable
//	a list shows it, and
//	    another node's list, too ......... Unreachable
//	    it is not this replica's ......... UUIDMismatch
//	    its object is not stopped ........ wait, report nothing
//	    else ............................. call, if DecideCall allows it
//	a list of its node is unknown ........ Unreachable
//	its disk is not loaded ............... DiskNotLoaded
//	its absence is proven ................ Removed, NothingToRemove (end)
//	else ................................. prove its absence
//
// The directory of a v1 replica is removed by disk-controller. Here it is only proven that no instance of the replica runs (InstanceGone):
// every v1 instance manager of the node was heard after the approval, and its lists prove that it lacks the replica. That counts for one
// generation of the Replica.
//
// DecideCall is the last check, on objects that were read uncached right before the call. It checks the premise of
// the approval again, and every engine that may use the replica.
//
//	approved VolumeDeleting ........ the Volume is gone, being deleted, or of another UID than the replica's owner
//	approved HealthyCopyElsewhere .. another replica that stays is healthy, runs on a node that is not down, and is RW
//	                                 in a poll of a running engine that is newer than the deletion
//
// An end is final. Unknown is never treated as empty, and missing data means wait.
package removal
