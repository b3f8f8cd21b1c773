package enginepoll

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"drover.dev/drover/shared/runkit"
)

// Options are the settings of this package.
type Options struct {
	// Period is the time between two polls of a quiet engine, Busy the one during an operation.
	Period, Busy time.Duration
	// RebuildStallTimeout is how long a rebuild may be without progress before it is aborted; package rebuildpace gives a large volume longer.
	RebuildStallTimeout time.Duration
	// HandOver is how long a process that was asked to stop keeps the calls of running v1 rebuilds open; 0: not at all.
	HandOver time.Duration
	// Cleanup reads what is done about the system snapshots of rebuilds; nil: nothing.
	Cleanup func(context.Context) (Cleanup, error)
	// Copying reads how many blocks are copied at once, by data engine; nil: one.
	Copying func(ctx context.Context, dataEngine string) (Copying, error)
	// Snapshots are the settings of taking and removing snapshots.
	Snapshots SnapshotOptions
	// PostElectionDelay is how long after its election a leader treats a call of an earlier leader for a snapshot or a backup as in progress.
	PostElectionDelay time.Duration
}

// Copying is how many blocks a backup, and a restore, copies at once.
type Copying struct{ Backup, Restore int }

// copying is what is in force for a data engine.
func (o Options) copying(ctx context.Context, dataEngine string) (Copying, error) {
	if o.Copying == nil {
		return Copying{Backup: 1, Restore: 1}, nil
	}
	return o.Copying(ctx, dataEngine)
}

// SnapshotOptions are the settings of taking and removing snapshots.
type SnapshotOptions struct {
	// Gap is the time between two polls that prove a snapshot absent.
	Gap time.Duration
	// Gather is how long no further Snapshot of a volume may have been deleted before the deleted ones are removed together.
	Gather time.Duration
}

// briefPurge is for how long a purge for deleted Snapshots is not reported in Engine.status.
func (o Options) briefPurge() time.Duration { return 2 * o.Busy }

// AddFlags registers the flags of this package.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.Snapshots.Gap, "snapshot-absence-gap", 5*time.Second,
		"time between two polls of an engine that prove a snapshot gone")
	flags.DurationVar(&o.Snapshots.Gather, "snapshot-delete-batch-delay", time.Second,
		"how long no further Snapshot of a volume may have been deleted before those that were are removed and purged together; at most "+
			"ten times as long")
	runkit.RenamedFlag(flags, "snapshot-gather", "snapshot-delete-batch-delay")
	flags.DurationVar(&o.Period, "engine-poll-interval", 30*time.Second, "time between two polls of a quiet engine (up to a fifth longer)")
	flags.DurationVar(&o.Busy, "engine-poll-active-interval", time.Second,
		"time between two polls of an engine that rebuilds, expands, copies, restores or purges")
	flags.DurationVar(&o.HandOver, "rebuild-hand-over", 10*time.Minute,
		"how long a process that was asked to stop, and has released its lease, keeps the calls of running v1 rebuilds open; keep it "+
			"below the pod's terminationGracePeriodSeconds; 0 ends them at once, and the next leader repeats the rebuilds")
	flags.DurationVar(&o.RebuildStallTimeout, "rebuild-stall-timeout", 10*time.Minute,
		"how long a rebuild may be without progress before it is aborted, or, where that is longer, the time that one per cent of the volume "+
			"takes at 1 MB/s; there is no other deadline")
	runkit.RenamedFlag(flags, "engine-look-period", "engine-poll-interval")
	runkit.RenamedFlag(flags, "engine-look-busy", "engine-poll-active-interval")
	runkit.RenamedFlag(flags, "rebuild-patience", "rebuild-stall-timeout")
}

const (
	workers = 64
	// perManager is how many engines of one instance manager are polled together: one that hangs must not take all
	// workers. Who finds no place tries again after a pause.
	perManager     = 8
	semaphorePause = 200 * time.Millisecond
	// unsettled is how long a poll follows a poll after a replica's instance failed: an engine notices within seconds.
	unsettled = 6 * time.Second
	// unreachableDelay is the wait after a poll that no one answered.
	unreachableDelay = 3 * time.Second
	conflictPause    = 50 * time.Millisecond
	// backupAnswers is how long a poll waits for the answers about all backups that the engine was requested to take: what it reports of
	// its replicas must not wait for them.
	backupAnswers = 2 * time.Second
	// soon is when to poll after a call, or where a poll is overdue.
	soon = time.Millisecond
)

const (
	// fieldOwner owns the conditions Provisioned, RemovalFailed and Withdrawn of Snapshots, Available of BackupTargets, and nothing else.
	fieldOwner = "im-monitor"
	// gatherLongest is how many times Gather removals wait at most while further ones come.
	gatherLongest = 10
	// unansweredMost is how many consecutive removals an engine may leave unanswered before that is reported on the Snapshots: a server
	// that lists and never removes must not occupy the purge semaphore for ever.
	unansweredMost = 3
	// repeatAfter is when the same refusal of a target is recorded again. snapshot-controller pauses the target for longer.
	repeatAfter = 30 * time.Second
	// credentialPause is when to retry a target whose credentials are missing, if the approval is not withdrawn before.
	credentialPause = time.Minute
	// lostAfter is how many consecutive polls may fail to report a backup before the engine counts as not having begun it: no server has an
	// error code for that. lostCopyAfter is the same for one that it had begun, while the replica that copies is in mode RW: a question that
	// does not reach that replica is answered alike.
	lostAfter     = 3
	lostCopyAfter = 30
)

// Keys of the parameters of a backup request.
const (
	parameterMode      = "backup-mode"
	parameterBlockSize = "backup-block-size"
)
