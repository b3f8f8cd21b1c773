// Package dataplane is an instance manager's data plane in memory: what the nodes hold, and what a running server does with it.
//
// A node outlives its servers. A server is one run of the process in an instance-manager pod. What ends with it and what stays:
//
//	             server ends                           next server of the node
//	v1 process   dies                                  nothing listed
//	v1 data      the replica's directory stays         never touched by any call
//	v2 replica   the lvol stays                        listed as stopped, same UUID, after the rediscovery time
//	v2 engine    the RAID bdev is gone                 nothing listed
//	v2 frontend  a record behind /metadata stays       pending, then running, or error and gone; ublk: nothing
//
//	v2 device    stays in the node's kernel           continues; a reboot of the node ends it
//
// A replica's data is a chain of blocks and snapshots (package chain). An engine holds replicas in modes RW, WO and ERR; a device (a v1
// engine's frontend, or a v2 frontend) takes writes to the engine that it leads to. The plane remembers what was acknowledged, per volume,
// and reports in the journal when that is opened stale, mixed, or written by two.
//
// Two kinds of server: a conforming one reports v2 UUIDs and checks them before it deletes; one of today leaves them empty, deletes
// unverified, and lists nothing for seconds after its start. The package knows no wire format, no Kubernetes and no faults of links; it
// implements the semantics table of the instance-manager contract.
package dataplane
