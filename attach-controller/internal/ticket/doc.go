// Package ticket decides which attachment tickets of a volume are to exist, apart from those of the Kubernetes attach and of users: the
// tickets of the volume's own background work, of its share, of a salvage; which tickets end because their owner is gone or their time is
// over; and with which tickets a volume is taken over from a cluster that had none. It does not decide which ticket gets the volume: that
// is package attach, which reads nothing but the tickets.
//
// Each type of ticket has a file of its own, and each ticket is a pure function of the facts and of itself, so that a crash between two
// writes leaves tickets from which Decide continues:
//
//	restore     frontend off   until the volume's data is there
//	expansion   any frontend   while the volume is larger than its engine
//	eviction    any frontend   from the first evaluation of a detached volume until no replica is on an evicted node or disk
//	clone       off, source any from the request until it is copied or failed; the same id on both volumes
//	export      any frontend   while a backing image is exported from the volume
//	share       frontend on    while a pod holds the RWX volume; on the node of its share manager
//	salvage     as last held   while the volume is faulted, a ticket wants it and no other ticket could restore it
//	rebuilding  any frontend   from the first evaluation of a detached volume until enough replicas are healthy, as long as
//	                           no ticket of higher priority wants the volume
//
// It implements row P of docs/attach-rules.md, ATT-4, and the take-over (docs/taking-over.md).
package ticket
