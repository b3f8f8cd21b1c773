package v1beta2

// Condition types of an Orphan.
const (
	// OrphanOrphaned (writer im-monitor) is True for as long as the instance is found orphaned; the reason is the
	// rule that applied, the message names the source of the UUID.
	OrphanOrphaned = "Orphaned"
	// OrphanInstanceState (writer im-monitor): the reason is the runtime state. True while the instance exists,
	// False with reason terminated once its absence, or the end of its runtime, is proven.
	OrphanInstanceState = "InstanceState"
	// OrphanWithdrawn (writer im-monitor) True means that there is nothing to execute. It is final.
	OrphanWithdrawn = "Withdrawn"
	// OrphanDeletionReason (writer orphan-controller) is written before a deletion by policy and never changed; an
	// orphan that is being deleted without it was deleted by a person.
	OrphanDeletionReason = "DeletionReason"
	// OrphanCleanupApproved (writer orphan-controller) True means: execute exactly what the spec names.
	OrphanCleanupApproved = "CleanupApproved"
	// OrphanCleanupFailed (writer im-monitor) is True while the last attempt failed.
	OrphanCleanupFailed = "CleanupFailed"
	// OrphanDataCleanable (writer im-monitor) is on orphans of replica data. True, without a reason, means that the
	// data can be destroyed where it is; False explains why not.
	OrphanDataCleanable = "DataCleanable"
	// OrphanError (writer im-monitor) is on orphans of replica data and repeats CleanupFailed under the type that
	// readers of Longhorn's objects know. Once it is there it stays, False without a reason while nothing fails.
	OrphanError = "Error"
)

// Reasons of OrphanOrphaned.
const (
	// ReasonNoOwnerCR surfaces when no Engine or Replica of the instance's name exists.
	ReasonNoOwnerCR = "NoOwnerCR"
	// ReasonOwnedByOtherInstanceManager surfaces when the running CR of that name runs on another instance manager.
	ReasonOwnedByOtherInstanceManager = "OwnedByOtherInstanceManager"
	// ReasonStoppedButPresent surfaces when the CR of that name is stopped while this instance is still live.
	ReasonStoppedButPresent = "StoppedButPresent"
	// ReasonDataOnly surfaces when a v2 replica without a Replica CR is only data: stopped or pending.
	ReasonDataOnly = "DataOnly"
	// ReasonForeignData surfaces when a v2 replica without a Replica CR was on its disk when that disk was loaded into this cluster for the
	// first time. No policy deletes it, only a person who deletes the Orphan.
	ReasonForeignData = "ForeignData"
)

// Reasons of OrphanWithdrawn.
const (
	// ReasonInstanceGone surfaces when the instance's absence was proven without a deletion by Drover.
	ReasonInstanceGone = "InstanceGone"
	// ReasonUUIDMismatch surfaces when the name is held by an instance with another UUID.
	ReasonUUIDMismatch = "UUIDMismatch"
	// ReasonClaimed surfaces when a CR claims the instance again; also a reason not to approve.
	ReasonClaimed = "Claimed"
	// ReasonRenamed surfaces on an orphan whose name an older release formed without the UUID; a new one replaces it.
	ReasonRenamed = "Renamed"
	// ReasonNotCleanable surfaces on an orphan of replica data whose DataCleanable became False: only the object ends, the data stays, and
	// a new Orphan is created when the data can be reached again.
	ReasonNotCleanable = "NotCleanable"
)

// Reasons of OrphanDataCleanable where it is False.
const (
	// ReasonNodeUnavailable surfaces when the node does not exist, is being deleted or is down.
	ReasonNodeUnavailable = "NodeUnavailable"
	// ReasonNodeEvicted surfaces when the node is being evicted.
	ReasonNodeEvicted = "NodeEvicted"
	// ReasonDiskInvalid surfaces when the node has no ready disk of the UUID.
	ReasonDiskInvalid = "DiskInvalid"
	// ReasonDiskChanged surfaces when the disk of an orphan's UUID has another name or path, and on a Node when a disk has another UUID
	// than the one that replicas were placed on.
	ReasonDiskChanged = "DiskChanged"
	// ReasonDiskEvicted surfaces when the disk is being evicted.
	ReasonDiskEvicted = "DiskEvicted"
)

// Reasons of OrphanDeletionReason.
const (
	// ReasonAutoDeletion surfaces when the setting orphan-resource-auto-deletion asked for it.
	ReasonAutoDeletion = "AutoDeletion"
	// ReasonEviction surfaces when the node is being evicted.
	ReasonEviction = "Eviction"
)

// Reasons of OrphanCleanupApproved.
const (
	// ReasonApproved surfaces when the instance may be deleted.
	ReasonApproved = "Approved"
	// ReasonGracePeriod surfaces until the auto deletion's grace period ends; the message states when.
	ReasonGracePeriod = "GracePeriod"
	// ReasonLastCopy surfaces while no other healthy replica of an existing volume is known; also why an attempt was abandoned.
	ReasonLastCopy = "LastCopy"
	// ReasonFlood surfaces when so many instances were disowned at once that the CRs, not the instances, may be missing.
	ReasonFlood = "Flood"
	// ReasonNotAbandoned surfaces while no Engine or Replica of the instance's name exists (of data on a disk: neither its Volume
	// nor a PersistentVolume of it) and nothing recorded that the instance was abandoned: no policy deletes it, only a person who deletes the
	// Orphan.
	ReasonNotAbandoned = "NotAbandoned"
	// ReasonRateLimited surfaces while earlier policy deletions on the node are still being carried out.
	ReasonRateLimited = "RateLimited"
	// ReasonAcknowledged surfaces when a flood was held and auto deletion was then turned off: it is not counted again.
	ReasonAcknowledged = "Acknowledged"
	// ReasonDryRun surfaces when policy would delete the orphan now, but orphan-controller only reports it.
	ReasonDryRun = "DryRun"
	// ReasonNodeGone surfaces when the node is down, deleted or unknown: the orphan ends without a call.
	ReasonNodeGone = "NodeGone"
	// ReasonInstanceManagerGone surfaces when the InstanceManager does not exist any more: the orphan ends without a call.
	ReasonInstanceManagerGone = "InstanceManagerGone"
	// ReasonNotJudged surfaces on an orphan that im-monitor never evaluated; it ends without a call.
	ReasonNotJudged = "NotJudged"
	// ReasonNoDataPath surfaces on an orphaned replica directory: its data is outside this version; it ends without a call.
	ReasonNoDataPath = "NoDataPath"
)

// Reasons of OrphanCleanupFailed.
const (
	// ReasonUnreachable surfaces when the instance manager, or a node that may hold an engine of the volume, did not answer.
	ReasonUnreachable = "Unreachable"
	// ReasonRefused surfaces when the instance manager answered with an error; also of a BackupTarget, and of a Snapshot's RemovalFailed.
	ReasonRefused = "Refused"
	// ReasonStillPresent surfaces when the instance is still listed after the call.
	ReasonStillPresent = "StillPresent"
	// ReasonMappedByEngine surfaces while a running engine still maps the replica, or maps one without an object that may be it.
	ReasonMappedByEngine = "MappedByEngine"
)

// Reasons for which the orphan rules decide nothing: the label reason of a metric, and an event's reason.
const (
	// ReasonNotLive surfaces when the instance is not live and its CR exists.
	ReasonNotLive = "NotLive"
	// ReasonCRDeleting surfaces when the CR has a deletion timestamp.
	ReasonCRDeleting = "CRDeleting"
	// ReasonStateChanging surfaces when the CR's current state is not the desired one.
	ReasonStateChanging = "StateChanging"
	// ReasonTransientState surfaces when the CR's state is neither running nor stopped.
	ReasonTransientState = "TransientState"
	// ReasonOwnerElsewhere surfaces when a running CR's owner is missing or is not the CR's node.
	ReasonOwnerElsewhere = "OwnerElsewhere"
	// ReasonNoUUID surfaces when neither the instance nor the SPDK inventory reports a UUID.
	ReasonNoUUID = "NoUUID"
	// ReasonInventoryUnknown surfaces when no complete list of the present epoch was read.
	ReasonInventoryUnknown = "InventoryUnknown"
	// ReasonNodeDown surfaces when the instance manager's node is down or being deleted.
	ReasonNodeDown = "NodeDown"
	// ReasonFrontendNotJudged surfaces for every engine-frontend instance.
	ReasonFrontendNotJudged = "FrontendNotJudged"
	// ReasonSecondLookDisagrees surfaces when the fresh list or the uncached CR contradicts the first verdict.
	ReasonSecondLookDisagrees = "SecondLookDisagrees"
)
