// Package plan decides about a whole upgrade: when it begins, with which image, what stands against it, which node is
// next, and how it ends. What happens to one node is package nodeupgrade's.
//
//	undefined ─► initializing ─► upgrading ─► completed
//	    │             │           │  ▲  │
//	    │             │           ▼  │  └─ a node failed for good ─► error
//	    └── waits     └─► error  paused            ▲
//	      its turn                    aborting ────┘
//
// One upgrade is under way at a time, and in it one node. The image is taken from the setting once and then frozen. An
// upgrade that ended in error goes on from where it was when its spec is changed.
//
// The node that is next stands in the status before its NodeDataEngineUpgrade is made, so that a crash between the two
// makes the same one. The package knows no client and no clock.
package plan
