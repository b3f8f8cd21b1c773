package v1beta2

// Condition types of a Snapshot.
const (
	// SnapshotRemovalApproved (writer snapshot-controller) True means: remove the snapshot and purge.
	SnapshotRemovalApproved = "RemovalApproved"
	// SnapshotProvisioned (writer im-monitor) is the result of a request where the engine's list of snapshots alone does not
	// show it: that none was taken, that it exists after all, or that it existed before.
	SnapshotProvisioned = "Provisioned"
	// SnapshotWithdrawn (writer im-monitor) True means that the engine has no such snapshot any more. It is final.
	SnapshotWithdrawn = "Withdrawn"
	// SnapshotRemovalFailed (writer im-monitor) True means that the engine could not remove the snapshot. It stays; lastProbeTime
	// is the last failure, and a later approval is tried.
	SnapshotRemovalFailed = "RemovalFailed"
	// SnapshotReady (writer snapshot-controller) mirrors status.readyToUse.
	SnapshotReady = "Ready"
)

// Reasons of SnapshotRemovalApproved.
const (
	// ReasonRequested surfaces when the Snapshot was deleted and nothing blocks removing its data.
	ReasonRequested = "Requested"
	// ReasonParentOfVolumeHead surfaces while volume-head builds on the snapshot: it can only be merged once there is a newer one.
	ReasonParentOfVolumeHead = "ParentOfVolumeHead"
	// ReasonHasMultipleChildren surfaces while several snapshots build on this one.
	ReasonHasMultipleChildren = "HasMultipleChildren"
	// ReasonPurgeDisabled surfaces while the setting disable-snapshot-purge is true.
	ReasonPurgeDisabled = "PurgeDisabled"
	// ReasonPurgeLimited surfaces while the node has as many purges as snapshot-heavy-task-concurrent-limit allows.
	ReasonPurgeLimited = "PurgeLimited"
	// ReasonWaitingForAttach surfaces until the volume is attached for the work; also of Ready, and of a Backup.
	ReasonWaitingForAttach = "WaitingForAttach"
	// ReasonUpgrading surfaces while the data engine of the volume's node is being upgraded.
	ReasonUpgrading = "Upgrading"
	// ReasonMigrating surfaces while the volume moves live from one node to another.
	ReasonMigrating = "Migrating"
	// ReasonRebuilding surfaces while a replica of the volume is being rebuilt.
	ReasonRebuilding = "Rebuilding"
	// ReasonLinkedClone surfaces while a linked clone shares the snapshot, or another clone copies it.
	ReasonLinkedClone = "LinkedClone"
	// ReasonBackingUp surfaces while a Backup copies the snapshot, or may begin to.
	ReasonBackingUp = "BackingUp"
	// ReasonRemovalFailed surfaces when the engine could not remove the snapshot, until that is tried again; the message has its answer.
	ReasonRemovalFailed = "RemovalFailed"
)

// Reasons of SnapshotRemovalFailed; when the engine refused the call it is Refused, when it answered none of several Unreachable.
const (
	// ReasonPurgeFailed surfaces when the engine's purge ended with an error; the message has the error of each replica.
	ReasonPurgeFailed = "PurgeFailed"
)

// Reasons of SnapshotProvisioned.
const (
	// ReasonTaken surfaces when a call took the snapshot after another result had been reported.
	ReasonTaken = "Taken"
	// ReasonAdopted surfaces when the engine had a snapshot of that name already.
	ReasonAdopted = "Adopted"
	// ReasonFailed surfaces when the engine refused, or a copy failed; the message is the answer, or names the field that has it. Also
	// of Ready, until it is asked again.
	ReasonFailed = "Failed"
	// ReasonCancelled surfaces when the Snapshot was deleted before a call went out, and none is in flight.
	ReasonCancelled = "Cancelled"
)

// Reasons of SnapshotWithdrawn.
const (
	// ReasonSnapshotGone surfaces when the snapshot's absence was proven by two polls.
	ReasonSnapshotGone = "SnapshotGone"
)

// Reasons of SnapshotReady.
const (
	// ReasonReady surfaces when it can be used; also of a Backup.
	ReasonReady = "Ready"
	// ReasonCreating surfaces while it is being taken.
	ReasonCreating = "Creating"
	// ReasonLimitReached surfaces when the volume may have no further snapshot, or no further bytes in snapshots.
	ReasonLimitReached = "LimitReached"
	// ReasonVolumeNotFound surfaces when there is no such Volume; also of a Backup.
	ReasonVolumeNotFound = "VolumeNotFound"
	// ReasonVolumeDetached surfaces while the volume is detached and nothing needs it attached.
	ReasonVolumeDetached = "VolumeDetached"
	// ReasonMarkedRemoved surfaces when the engine has marked it removed; it waits for a purge.
	ReasonMarkedRemoved = "MarkedRemoved"
	// ReasonLost surfaces when a poll did not list it, until that is proven or disproven.
	ReasonLost = "Lost"
)
