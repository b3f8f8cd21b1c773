// Package removal decides whether the directory of a deleted v1 Replica may be removed now, and what its condition DataRemoved reports. It
// does no I/O and has no clock.
//
// Nothing happens without DataRemovalApproved by attach-controller, and InstanceGone by im-monitor for the present generation of the
// Replica. Decide then applies these rules to objects that were read uncached, in this order, and the first match is the result:
//
//	the Replica is not wanted any more .............. nothing
//	its disk left the spec of its node .............. DiskGone   (end)
//	the premise of the approval does not hold now ... wait for attach-controller, report nothing
//	its disk is not ready, or has another path ...... DiskNotReady
//	its name is not the name of a directory ......... NothingToRemove (end)
//	another object or an instance has the directory . DirectoryClaimed
//	else ............................................ Removing, then remove
//
// Removing is written to the version of the Replica that was read, before anything is changed on the disk: from then on the data is not
// used any more, whatever becomes of the approval. An end is final.
package removal
