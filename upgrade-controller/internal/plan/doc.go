// Package plan decides about a whole upgrade: when it begins, with which image, what blocks it, which node is
// next, and how it ends. Package nodeupgrade decides what happens to one node.
//
//	undefined ─► initializing ─► upgrading ─► completed
//	    │             │           │  ▲  │
//	    │             │           ▼  │  └─ a node failed for good ─► error
//	    └── queued    └─► error  paused            ▲
//	                                  aborting ────┘
//
// One upgrade is under way at a time, and in it one node. The image is read from the setting once and then frozen. An
// upgrade that ended in error continues from where it was when its spec is changed.
//
// The next node is stored in the status before its NodeDataEngineUpgrade is created, so that the pass after a crash
// creates the same one. The package uses no client and no clock.
package plan
