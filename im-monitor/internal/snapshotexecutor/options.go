package snapshotexecutor

import (
	"time"

	"github.com/spf13/pflag"

	"drover.dev/drover/shared/runkit"
)

// Options are the settings of this package.
type Options struct {
	// Gap is the time between two polls that prove a snapshot absent.
	Gap time.Duration
	// Gather is how long no further Snapshot of a volume may have been deleted before the deleted ones are removed together.
	Gather time.Duration
	// PostElectionDelay is how long after its election a leader treats a call of an earlier leader as in progress.
	PostElectionDelay time.Duration
}

// AddFlags registers the flags of this package.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.Gap, "snapshot-absence-gap", 5*time.Second, "time between two polls of an engine that prove a snapshot gone")
	flags.DurationVar(&o.Gather, "snapshot-delete-batch-delay", time.Second,
		"how long no further Snapshot of a volume may have been deleted before those that were are removed and purged together; at most "+
			"ten times as long")
	runkit.RenamedFlag(flags, "snapshot-gather", "snapshot-delete-batch-delay")
}

const (
	// fieldOwner owns the conditions Provisioned, RemovalFailed and Withdrawn and nothing else.
	fieldOwner = "im-monitor"
	// gatherLongest is how many times Gather removals wait at most while further ones come.
	gatherLongest = 10
	// unansweredMost is how many consecutive removals an engine may leave unanswered before that is reported on the Snapshots: a server
	// that lists and never removes must not occupy the purge semaphore for ever.
	unansweredMost = 3
	// soon is when to poll after a call or a conflict.
	soon = time.Millisecond
	// conflictPause is the wait for the event of a change that a write met.
	conflictPause = 50 * time.Millisecond
)
