// Package orphan decides what becomes of an Orphan: whether its cleanup is approved, whether policy deletes it, and
// when its finalizer may go. It refuses to know how an instance is deleted, or how one is found to be orphaned: that is
// im-monitor's, which writes Orphaned, InstanceState, Withdrawn and CleanupFailed, and reads what is decided here,
// DeletionReason and CleanupApproved.
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
//	       │ said, then deleted                                     │               │
//	       ▼                                                        ▼               ▼
//	    deleting, nothing to execute ────────────────────► InstanceState=False/terminated
//	                               └────── finalizer dropped ───────┘
//
// Each Verdict is at most one write, of the version that was judged, and what a later write builds on is stored before
// it: a crash between two writes leaves an orphan on which Decide goes on. The reason of a policy deletion is stored
// before the deletion and stays as long as the orphan is being deleted, so that it is never taken for a person's.
//
// It implements design sections 2, 6.6 and 6.7 and the table of conditions of the contract.
package orphan
