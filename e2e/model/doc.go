// Package model checks the protocol by which an orphan's instance is deleted: intent, approval, evidence. It explores
// every interleaving of a small world breadth-first: two instance managers, a few changes of the Replica, crashes, a
// paused old leader, stale caches, a restarting data plane, a forgotten engine. The decisions are made by the product's
// own functions, im-monitor's evaluator and orphan-controller's policy; their reconcilers, the API server and the data
// plane are modelled.
//
// Checked are
//
//	ORP-1  no runtime that a Replica claims is deleted
//	ORP-2  no data that a Replica claims is destroyed
//	ORP-3  only the evaluated UUID is deleted
//	ORP-5  of a volume without any object, policy deletes only what was recorded as abandoned
//	ORP-4  an orphan ends only with its instance gone or withdrawn, and evidence is true when written
//	ASKED  each deletion was requested by a person or a policy
//	ENDS   from every state the controllers' own steps lead to one in which no deleted or withdrawn orphan is left
//
// ORP-1 and ORP-2 hold as of the last read before a call. Each mutant (faults.go) must violate one of these.
package model
