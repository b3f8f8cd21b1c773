// Package orphan decides about runtime instances that no custom resource wants any more: which of them are orphaned,
// what the Orphan objects about them report, when such an object is withdrawn, and, right before a deletion, whether and
// how the instance may be deleted. It implements the two documents on orphaned runtime instances and section 6 of the
// design; it reads nothing, writes nothing and knows no clock.
//
// One World is one name on one instance manager. Judge asks, in this order, and the first answer stands:
//
//	inventory unknown ............ InventoryUnknown     ┐
//	node down, deleting, absent .. NodeDown             │
//	not in the list .............. (nothing to evaluate)   │
//	the same UUID in another list  InventoryUnknown     │
//	an engine-frontend ........... FrontendNotJudged    │ no decision: nothing is created,
//	CR exists, runtime not live .. NotLive              │ withdrawn or deleted
//	CR is being deleted .......... CRDeleting           │
//	current ≠ desired state ...... StateChanging        │
//	CR neither running nor stopped TransientState       │
//	running, owner not its node .. OwnerElsewhere       ┘
//	running here ................. Claimed              → withdraw
//	running on another manager ... OwnedByOtherInstanceManager ┐
//	stopped, runtime live ........ StoppedButPresent           │ orphaned, if its UUID is known,
//	no CR, runtime live .......... NoOwnerCR                   │ else NoUUID: no decision
//	no CR, v2 replica, data only . DataOnly                    ┘
//
// An Orphan's life, as far as this package writes it:
//
//	            ┌────────── Orphaned=True, InstanceState=True/<state> ──────────┐
//	evaluated ─────┤                                                               ├─ Withdrawn=True (final)
//	            └─ deleted and approved ─ call ─ InstanceState=False/terminated ┘  InstanceGone UUIDMismatch
//	                                        └─── CleanupFailed=True/<why>          Claimed Renamed
//
// Unknown is never taken for empty, and missing data means wait.
package orphan
