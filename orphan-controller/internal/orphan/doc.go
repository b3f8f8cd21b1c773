// Package orphan decides what becomes of an Orphan: whether its cleanup is approved, whether policy deletes it, and
// when its finalizer is dropped. It does not know how an instance is deleted, or how one is found to be orphaned:
// im-monitor does both. im-monitor writes Orphaned, InstanceState, Withdrawn and CleanupFailed, and reads what is
// decided here, DeletionReason and CleanupApproved.
//
//	       created by im-monitor
//	                │
//	┌───────────────▼───────────────┐  auto deletion, eviction:      ┌──────────────┐
//	│ standing                      │  DeletionReason, then delete   │ deleting     │
//	│ nothing, or CleanupApproved=  ├───────────────────────────────►│ by policy    │◄─┐ premise fell:
//	│ False: GracePeriod, LastCopy, │                                │ Approved     ├──┘ False, then again
//	│ Flood, RateLimited,           │  a person deletes it  ┌────────┴──────┐       │
//	│ Acknowledged, Claimed         ├──────────────────────►│ deleting      │       │
//	└──────┬────────────────────────┘                       │ by a person   │       │
//	       │                                                │ Approved, or  │       │
//	       │ Withdrawn=True: deleted as it is               │ False/Claimed │       │
//	       │ NodeGone, InstanceManagerGone, NoDataPath:     └───────┬───────┘       │
//	       │ stored, then deleted                                   │               │
//	       ▼                                                        ▼               ▼
//	    deleting, nothing to execute ────────────────────► InstanceState=False/terminated
//	                               └────── finalizer dropped ───────┘
//
// Each Verdict is at most one write, of the version that was evaluated, and what a later write builds on is stored before
// it: after a crash between two writes Decide continues with the orphan. The reason of a policy deletion is stored
// before the deletion and stays as long as the orphan is being deleted, so that it is never handled as a person's.
//
// The rules cite invariants (ORP-1, UPG-1); the README of this binary lists them.
package orphan
