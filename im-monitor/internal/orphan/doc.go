// Package orphan decides about runtime instances that no custom resource claims: which of them are orphaned,
// which status the Orphan objects about them have, when such an object is withdrawn, and, right before a deletion, whether and
// how the instance may be deleted. docs/orphans.md describes the behaviour for users. The package
// does no I/O and has no clock.
//
// One World is one name on one instance manager. Evaluate applies these rules in this order, and the first match is the result:
//
//	inventory unknown ............ InventoryUnknown     ┐
//	node down, deleting, absent .. NodeDown             │
//	not in the list .............. (nothing to evaluate) │
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
// The life of an Orphan, as far as this package writes its status:
//
//	            ┌────────── Orphaned=True, InstanceState=True/<state> ──────────┐
//	evaluated ──┤                                                               ├─ Withdrawn=True (final)
//	            └─ deleted and approved ─ call ─ InstanceState=False/terminated ┘  InstanceGone UUIDMismatch
//	                                        └─── CleanupFailed=True/<why>          Claimed Renamed
//
// Unknown is never treated as empty, and missing data means wait.
package orphan
