package instancecontroller

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/shared/api/v1beta2"
)

// Options are the settings of this package.
type Options struct {
	// PostElectionDelay is how long after its election a leader leaves names alone whose Orphan or Replica is being deleted.
	PostElectionDelay time.Duration
	// Locks are shared with every other executor that changes instances.
	Locks *execute.Locks
	// EnginePrefix and HostPrefix are where engine binaries and the host's file system are inside a v1 instance manager.
	EnginePrefix, HostPrefix string
	// ControlPath is Longhorn's directory on the host that has engine binaries.
	ControlPath string
	// Rediscovery is how long after its start a v2 server may not list what outlived it.
	Rediscovery time.Duration
	// StuckEnding is the time after which the deletion of a v1 process that is still ending is requested again. Its server waits 60 s, kills
	// the process, and does no more unless it is asked again; an earlier repetition has no effect.
	StuckEnding time.Duration
	// PathLoss is how long a node's kernel tries to connect again to a target that does not answer, until it drops the path.
	PathLoss time.Duration
	// Working reports whether work is under way that may go through the frontend of an engine. Nil knows of none.
	Working func(engine string) bool
	// Polled reports whether this process has polled an engine that runs; nil counts as polled.
	Polled func(engine string) bool
	// BeforeEngineStop polls a running engine once more; its failure does not delay the stop. Nil polls none.
	BeforeEngineStop func(ctx context.Context, engine *v1beta2.Engine) error
}

const (
	fieldOwner = "im-monitor"

	reporters = 16
	// Workers mostly wait for instance managers, each of which has few calls at a time.
	executorWorkers = 256
	callsPerManager = 8

	// pollTimeout bounds the poll before a stop.
	pollTimeout = 3 * time.Second
	// stopTimeout bounds a deletion: a v2 server took 82 s for a frontend whose engine had just lost a replica. A creation is bounded by the
	// connection alone.
	stopTimeout = 2 * time.Minute
	// outTimeout bounds a deletion on a node that is out: its object may be wanted elsewhere any moment.
	outTimeout = 2 * time.Second

	// volumePause is the wait for a Volume that does not exist yet, as while a cluster is restored.
	volumePause = 5 * time.Second
)

// afterCall is the wait after an accepted call, so that it takes effect.
var afterCall = execute.Backoff{First: 5 * time.Second, Most: 5 * time.Minute}

// AddFlags registers the flags of this package.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.EnginePrefix, "engine-binary-prefix", "/engine-binaries/", "where engine binaries are inside a v1 instance manager")
	flags.StringVar(&o.HostPrefix, "host-prefix", "/host", "where the host's file system is inside a v1 instance manager")
	flags.DurationVar(&o.PathLoss, "path-loss-timeout", 45*time.Second,
		"how long after a target on a node that is down did not answer, and with all I/O of its frontend suspended, the frontend may use "+
			"another one although the first one could not be closed: longer than the kernel tries to connect to it again")
	flags.DurationVar(&o.StuckEnding, "v1-stop-patience", 90*time.Second,
		"how long a v1 process may take to end until its deletion is requested again: longer than the 60s after which its server kills it")
	flags.DurationVar(&o.Rediscovery, "v2-rediscovery", 5*time.Second,
		"how long after the start of a v2 instance manager nothing is started on it, because it may not list yet what outlived its "+
			"predecessor")
}
