// Package ticketcontroller applies the decisions of package ticket: for each volume it reads a World, calls Decide, and patches its own
// tickets, each by its own key, so that it does not conflict with other writers. A verdict with changes is applied only after a second
// decision on a VolumeAttachment, and on owners, read uncached.
//
// It never creates a VolumeAttachment: that is package attachcontroller's, which takes a volume over with the tickets of TakeOver.
package ticketcontroller
