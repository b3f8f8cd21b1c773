package orphancontroller

import (
	"time"

	"github.com/spf13/pflag"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/runkit"
)

// Options are the settings of this package.
type Options struct {
	// PostElectionDelay is how long after its election a leader leaves deleting Orphans alone.
	PostElectionDelay time.Duration
	// Rules are the waiting times of the absence rule, the same as the inventory's.
	Rules orphan.Rules
	// Locks are shared with every other executor that changes instances; nil means that there is no other.
	Locks *execute.Locks
}

const (
	fieldOwner = "im-monitor"

	// evaluationWorkers wait for lists and the API server most of the time.
	evaluationWorkers = 16
	executorWorkers   = 16
	// callsPerManager keeps one hung instance manager from taking all executors.
	callsPerManager = 2
)

// AddFlags registers the flags of this package.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.PostElectionDelay, "post-election-delay", 3*time.Minute,
		"how long after its election a leader does not change instances whose Orphan is being deleted, because a server may still "+
			"execute a call of the previous leader")
	runkit.RenamedFlag(flags, "quarantine", "post-election-delay")
}
