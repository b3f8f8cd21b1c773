// Package model plays random small clusters against the real decision functions of attach-controller: attach.Decide (who
// gets the volume), machine.Decide (how it is attached and detached) and ticket.Decide (who works in the background). It
// is the proof that the attach rules hold together, and that none of them is superfluous. Nothing of a controller imports it.
//
// A world is one volume with its tickets, engines, frontends and replicas on a few nodes. Everybody else is played: pods and
// people, im-monitor, the placement of replicas, and the data plane, where every write of an engine is counted in each
// replica that it reaches.
//
//	trouble  some hundred steps in a random order: nodes go and return, instances crash, a read shows the version before,
//	         a pass ends after any of its writes
//	quiet    nothing goes wrong any more: everything must settle, and every ticket that can be served is
//
// The targets of v2 volumes are sent to other nodes meanwhile, as an upgrade of a node does.
//
// What is checked: ATT-1 to ATT-4, UPG-1, UPG-3 and UPG-4 of the design, that an engine never opens over replicas that differ, that the
// quiet settles, and that nobody starves. It refuses to know how a decision is made, and how a write reaches the API server:
// it applies each write alone, bound to the version that was judged where the shell binds it.
package model
