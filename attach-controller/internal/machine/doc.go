// Package machine is the volume's attach and detach machine: from where a volume is wanted (spec.nodeID) and what its
// Engine, EngineFrontend and Replica objects say, it decides which of them shall run, and what Volume.status says. It
// knows no ticket, no place for a replica, and nothing of the data plane.
//
//	creating ──► detached ──► attaching ──► attached
//	                ▲                          │
//	                └──────── detaching ◄──────┘
//
// close stops frontend, engine and replicas; open starts them in reverse. currentNodeID is set when the volume is fully
// attached, and cleared when it is fully detached. The table (X is wanted, Y another node):
//
//	spec.nodeID  currentNodeID  state                          do → next
//	any          any            (new)                          → creating
//	any          any            creating                       close; closed? → detached
//	""           any            attaching, attached            → detaching
//	""           any            detaching                      close; closed? → currentNodeID = "", detached
//	""           ""             detached                       close (stable)
//	X            ""             attached, detaching            close; closed? → detached
//	X            ""             detached                       → attaching
//	X            ""             attaching                      open; opened? → currentNodeID = X, attached
//	X            X              attaching, detached, detaching → detaching; close; closed? → detached
//	X            X              attached                       open (starts added replicas)
//	X            Y              any                            migrating to X: hand over; else → detaching
package machine
