// Package model checks the protocol by which an orphan's instance is deleted: intent, approval, evidence. It explores
// every interleaving of a small world breadth-first: two instance managers, a few changes of the Replica, crashes, a
// paused old leader, stale caches, a restarting data plane, a forgotten engine. What decides in it are the product's
// own functions, im-monitor's judge and orphan-controller's policy; what is modelled are their shells, the API server
// and the data plane.
//
// Checked are
//
//	ORP-1  no runtime that a Replica claims is deleted
//	ORP-2  no data that a Replica claims is destroyed
//	ORP-3  nothing is deleted but the UUID that was judged
//	ORP-5  of a volume without any object, policy deletes only what was recorded as given up
//	ORP-4  an orphan ends only with its instance gone or its judgement withdrawn, and evidence is true when written
//	ASKED  nothing is deleted that nobody wanted gone
//	ENDS   from every state the neighbours' own steps lead to one in which no deleted or withdrawn orphan is left
//
// ORP-1 and ORP-2 hold as of the last read before a call. Planted faults (faults.go) must each violate one of these.
package model
