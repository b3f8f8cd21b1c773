package runkit

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/shared/startpages"
)

// startPatience is how long after filling the caches the start is assumed to be over.
const startPatience = 15 * time.Second

// gcPercent lets the garbage collector run at half growth after the start, if $GOGC is not set: a controller's
// heap is its caches, which are large and hardly change, so that memory matters more than the rare collection. While they are
// filled it would run all the time.
const gcPercent = 50

// settleMemory lets the collector run more often once the start is over, and then returns memory to the system: filling the caches
// takes more than they keep, a quiet process would hardly ever collect it, and most of its program is not needed any more. A standby
// returns memory, too; how often it collects it changes only when it leads and has filled its caches.
func settleMemory(m ctrl.Manager, c clock.Clock, log logr.Logger, percent int) error {
	return errors.Join(m.Add(settling{m, c, log, percent, false}), m.Add(settling{m, c, log, percent, true}))
}

// settling settles the memory once: of a standby or, with the lease, of the leader.
type settling struct {
	manager ctrl.Manager
	clock   clock.Clock
	log     logr.Logger
	percent int
	leader  bool
}

func (s settling) NeedLeaderElection() bool { return s.leader }

func (s settling) Start(ctx context.Context) error {
	if !s.manager.GetCache().WaitForCacheSync(ctx) {
		return nil // the process ends
	}
	var leads <-chan struct{} // from then on the leader's settles it
	if !s.leader {
		leads = s.manager.Elected()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-leads:
		return nil
	case <-s.clock.After(startPatience):
	}
	if s.leader && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(s.percent)
	}
	debug.FreeOSMemory()
	if _, err := startpages.Release(); err != nil {
		s.log.V(1).Info("pages of the start stay in memory", "reason", err.Error())
	}
	return nil
}
