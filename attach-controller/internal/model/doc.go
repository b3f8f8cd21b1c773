// Package model runs random small clusters against the real decision functions of attach-controller: attach.Decide (which ticket gets the
// volume), machine.Decide (how it is attached and detached) and ticket.Decide (background work). It proves that the attach rules are
// consistent; e2e/faults leaves each of them out once, and a world that is then known to be bad must be found. No controller imports it.
//
// A world is one volume with its tickets, engines, frontends and replicas on a few nodes. All other parts are simulated: pods and users,
// im-monitor, the placement of replicas, and the data plane, where every write of an engine is counted in each replica that it reaches.
//
//	trouble  some hundred steps in a random order: nodes fail and return, instances crash, a read shows the previous version,
//	         a pass ends after any of its writes
//	quiet    no more failures: everything must settle, and every ticket that can be served is
//
// The targets of v2 volumes are relocated meanwhile, as by the upgrade of a node.
//
// The model checks ATT-1 to ATT-4, UPG-1, UPG-3 and UPG-4 (ARCHITECTURE.md), that an engine never opens over replicas that differ, that the
// quiet phase settles, and that no ticket starves. It does not model how a decision is reached, or how a write reaches the API server: it
// applies each write alone, bound to the evaluated resourceVersion if the reconciler binds it.
package model
