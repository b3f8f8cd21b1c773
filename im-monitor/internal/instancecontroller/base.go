package instancecontroller

import (
	"time"

	"github.com/go-logr/logr"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// base is what both controllers share.
type base struct {
	rt       *runkit.Runtime
	log      logr.Logger
	settings *settingcontroller.Source
	store    inventory.Store
	options  Options

	written   kube.Written
	mapper    kube.Mapper
	attempts  attempts
	guard     execute.Guard
	semaphore execute.Queue[Key]
	waitlist  waitlist
	reported  reported

	reportQueue, executorQueue enqueue.Queue[Key]
}

func newBase(rt *runkit.Runtime, settings *settingcontroller.Source, store inventory.Store, options Options) *base {
	return &base{rt: rt, log: rt.Log.WithName("instance"), settings: settings, store: store, options: options,
		guard:   execute.Guard{Clock: rt.Clock, Store: store, Locks: options.Locks, Observe: rt.Observe},
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}, mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
}

// fencingDelayEnds is when this leader may touch names whose deletion a server may still execute. A process that is not elected never may.
func (s *base) fencingDelayEnds() time.Time {
	return execute.FencingDelayEnds(s.rt.ElectedAt(), s.rt.Clock.Now(), s.options.PostElectionDelay)
}

func (s *base) logFor(key Key) logr.Logger {
	return s.log.WithValues("kind", key.Kind, "instance", key.Name)
}
