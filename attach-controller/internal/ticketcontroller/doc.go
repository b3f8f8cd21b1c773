// Package ticketcontroller makes the decisions of package ticket true: for each volume it reads a World, lets the core
// decide, and patches its own tickets, each by its own key, so that nobody else's writes are in the way. A verdict that
// changes anything is taken only after deciding once more on a VolumeAttachment, and on owners, read uncached.
//
// It never makes a VolumeAttachment: that is the attach core's, which takes a volume over with what TakeOver returns.
package ticketcontroller
