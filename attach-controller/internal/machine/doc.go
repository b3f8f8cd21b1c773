// Package machine decides which instances of a volume run. Its input is where the volume is wanted (spec.nodeID) and the volume's Engine,
// EngineFrontend and Replica objects. Its output is the specs of these objects and Volume.status. It does not handle tickets, replica
// placement or the data plane.
//
//	             close                 wanted                 open
//	creating ───────────► detached ───────────► attaching ───────────► attached ◄─┐ migrated to X,
//	                         ▲                      │                     │  └──────┘ target moved
//	                         │ close                │ not wanted, or      │ not wanted, on another node,
//	                         └────── detaching ◄────┴─ something runs ────┘ or faulted
//	                                                   elsewhere
//	any state, deleted ──► deleting ──(close, delete the objects)──► gone
//
// To close is to stop frontend, engine and replicas; to open is to start them in reverse. currentNodeID is set when the volume is fully
// attached, and cleared when it is fully detached. A volume is in one phase (lifecycle.go; X is wanted, Y another node):
//
//	phase      spec.nodeID  currentNodeID  state                          do → next
//	new        any          any            (new)                          → creating
//	creating   any          any            creating                       close; closed? → detached
//	detaching  ""           any            attaching, attached            → detaching
//	detaching  ""           any            detaching                      close; closed? → currentNodeID = "", detached
//	detached   ""           ""             detached                       close (stable)
//	detaching  X            ""             attached, detaching            → detaching; close; closed? → detached
//	wanted     X            ""             detached                       → attaching
//	attaching  X            ""             attaching                      open; opened? → currentNodeID = X, attached
//	detaching  X            ""             attaching, runs elsewhere      → detaching; close; closed? → detached
//	detaching  X            X              attaching, detached, detaching → detaching; close; closed? → detached
//	attached   X            X              attached                       open (starts added replicas)
//	attached   X            Y              attached, migrating to X       hand over
//	detaching  X            Y              any other                      → detaching
//
// One evaluation:
//
//	World ──► Facts ──► concern ──► decided ──► concern ──► … ──► Verdict
//	                       └─► writes, events ─────┘
//
// Before the concerns, a volume that longhorn-manager created and never attached is found: that is one evaluation of its own (unused.go).
//
// Facts are derived once, and their methods have no effect; those of a draft may. Each concern (decide.go lists them in order, with the
// reasons) gets the facts with what the concerns before it decided, and fills a draft. A concern has a file and a type of its own; what
// several of them do to objects is in instances.go and replicas.go.
//
// Codes in brackets are invariants (ARCHITECTURE.md): [ATT-1] at most one node holds a volume, unless it migrates between two; [UPG-1] no
// volume loses its last healthy replica by a decision; [UPG-3] an attached volume has an I/O target at every moment.
package machine
