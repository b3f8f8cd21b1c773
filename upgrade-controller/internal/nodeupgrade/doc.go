// Package nodeupgrade decides the next step of one node's upgrade: the v2 instance manager of the node is replaced while
// every volume that uses the node stays attached and written to.
//
//	undefined ─► initializing ─► switching-over ─► detaching-replicas ─► upgrading-instance-manager
//	    │             │                │                   │                  │            │
//	    │             └────────────────┴───────────────────┴── not replaced ──┘            │ replaced: only forward
//	    ▼                              ▼                                                   ▼
//	  error ◄───────────────────── rolling-back ──── replaced after all ──────────► switching-back
//	    ▲                                                                                  ▼
//	    └───────────────── no progress ─────────────────────────────────────────── rebuilding-replica ─► completed
//
// The state permits what the peer controllers do: attach-controller takes out the replicas that status.volumes lists while it
// is detaching-replicas, upgrading-instance-manager or switching-back, im-monitor replaces the instance manager of
// status.oldInstanceManager while it is upgrading-instance-manager. Progress is never concluded from the state, but
// from the objects: each step checks of each volume everything that earlier steps checked, too, so that a volume that
// appears late, or a temporary node that dies, is handled in whatever step the upgrade is.
//
// Every step is stored before it is taken: the temporary node is in the status before a target moves there, the name of a
// snapshot before it is taken, the state before the node is cordoned. The package uses no client and no clock.
package nodeupgrade
