// Package machine decides which instances of a volume run. Its input is where the volume is wanted (spec.nodeID) and the volume's Engine,
// EngineFrontend and Replica objects. Its output is the specs of these objects and Volume.status. It does not handle tickets, replica
// placement or the data plane.
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
