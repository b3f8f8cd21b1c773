// Package backuplist decides when a backup target is read, and what of the objects that describe it is no longer in it. It reads nothing
// and writes nothing.
//
// Unknown is not empty. Only what was found in the same place before, and is missing from two readings that are some time apart, counts
// as gone; and a target that had volumes and lists none at all counts as unknown. Only objects go for that: nothing in a target is
// removed because of what a reading shows.
package backuplist
