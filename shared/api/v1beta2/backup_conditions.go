package v1beta2

// Condition types of a Backup.
const (
	// BackupApproved (writer snapshot-controller) True means: take it. Its reason is then Ready.
	BackupApproved = "Approved"
	// BackupProgressing (writer snapshot-controller) is False while an engine copies a backup and has reported no progress for a long time; at
	// all other times it is absent.
	BackupProgressing = "Progressing"
)

// Reasons of BackupProgressing.
const (
	// ReasonNoProgress surfaces when a backup is being copied and its progress has been the same for hours.
	ReasonNoProgress = "NoProgress"
)

// Reasons of BackupApproved beside those of SnapshotReady, Restoring and Cloning among them, BackingUp: it was deleted while an engine
// copies it, Removing and RemovalFailed: its data is being, or could not be, removed from the target, and Upgrading: the v2 data engine of
// a node that its volume uses is being upgraded, or its target is relocated.
const (
	// ReasonSnapshotNotReady surfaces while the snapshot to back up is not ready.
	ReasonSnapshotNotReady = "SnapshotNotReady"
	// ReasonTargetUnavailable surfaces while the BackupTarget is missing or cannot be reached.
	ReasonTargetUnavailable = "TargetUnavailable"
)

// Condition types of a BackupTarget.
const (
	// BackupTargetAvailable (writer im-monitor) is the result of the last engine that copied there. Its reason is
	// otherwise Refused.
	BackupTargetAvailable = "Available"
	// BackupTargetListed (writer snapshot-controller) True means: what the target has was read, and is shown as BackupVolumes and Backups.
	BackupTargetListed = "Listed"
)

// Reasons of BackupTargetListed beside Refused and TimedOut.
const (
	// ReasonListed surfaces when all of the target was read.
	ReasonListed = "Listed"
	// ReasonListedInPart surfaces when some volumes or backups of the target could not be read; the message names one of them.
	ReasonListedInPart = "ListedInPart"
	// ReasonNoEngineBinary surfaces when the binary of the default engine image is not on the node of snapshot-controller.
	ReasonNoEngineBinary = "NoEngineBinary"
	// ReasonCredentialsMissing surfaces when the Secret of the target, or a key in it, is missing.
	ReasonCredentialsMissing = "CredentialsMissing"
	// ReasonEmptyAnswer surfaces when a target that had volumes lists none: it may be another place, or not mounted.
	ReasonEmptyAnswer = "EmptyAnswer"
)

// Reasons of BackupTargetAvailable.
const (
	// ReasonReached surfaces when a backup was completed in the target.
	ReasonReached = "Reached"
)

// Condition types of a RecurringJob.
const (
	// RecurringJobReady (writer snapshot-controller) is True while the job is scheduled; the message names its last and its
	// next run.
	RecurringJobReady = "Ready"
	// RecurringJobRetained (writer snapshot-controller) is False while the job passes volumes over, because Snapshots or Backups that it
	// deleted are not removed; it is as of the last run that ended, and absent if that passed none over.
	RecurringJobRetained = "Retained"
)

// Reasons of RecurringJobRetained.
const (
	// ReasonRetentionBlocked surfaces when a job takes no further snapshot of a volume, because the Snapshots that it deleted are still there.
	ReasonRetentionBlocked = "RetentionBlocked"
)

// Reasons of RecurringJobReady.
const (
	// ReasonScheduled surfaces when the job has a next run.
	ReasonScheduled = "Scheduled"
	// ReasonBadCron surfaces when spec.cron cannot be read; the message names the position.
	ReasonBadCron = "BadCron"
	// ReasonUnsupported surfaces when Drover does not support what the spec asks for; the message names it.
	ReasonUnsupported = "Unsupported"
)
