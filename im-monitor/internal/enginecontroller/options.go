package enginecontroller

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"drover.dev/drover/im-monitor/internal/backupexecutor"
	"drover.dev/drover/im-monitor/internal/snapshotexecutor"
	"drover.dev/drover/shared/runkit"
)

// Options are the settings of this package.
type Options struct {
	// Period is the time between two polls of a quiet engine, Busy the one during an operation.
	Period, Busy time.Duration
	// RebuildStallTimeout is how long a rebuild may be without progress before it is aborted.
	RebuildStallTimeout time.Duration
	// HandOver is how long a process that was asked to stop keeps the calls of running v1 rebuilds open; 0: not at all.
	HandOver time.Duration
	// Cleanup reads what is done about the system snapshots of rebuilds; nil: nothing.
	Cleanup func(context.Context) (Cleanup, error)
	// Snapshots are the settings of taking and removing snapshots.
	Snapshots snapshotexecutor.Options
	// Backups are those of taking backups.
	Backups backupexecutor.Options
}

// AddFlags registers the flags of this package.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.Snapshots.AddFlags(flags)
	flags.DurationVar(&o.Period, "engine-poll-interval", 30*time.Second, "time between two polls of a quiet engine (up to a fifth longer)")
	flags.DurationVar(&o.Busy, "engine-poll-active-interval", time.Second,
		"time between two polls of an engine that rebuilds, expands, copies, restores or purges")
	flags.DurationVar(&o.HandOver, "rebuild-hand-over", 10*time.Minute,
		"how long a process that was asked to stop, and has released its lease, keeps the calls of running v1 rebuilds open; keep it "+
			"below the pod's terminationGracePeriodSeconds; 0 ends them at once, and the next leader repeats the rebuilds")
	flags.DurationVar(&o.RebuildStallTimeout, "rebuild-stall-timeout", 10*time.Minute,
		"how long a rebuild may be without progress before it is aborted; there is no other deadline")
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
)
