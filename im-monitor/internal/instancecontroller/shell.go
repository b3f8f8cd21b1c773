package instancecontroller

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/im-monitor/internal/staleness"
	"drover.dev/drover/shared/runkit"
)

// shell is what both controllers share.
type shell struct {
	rt       *runkit.Runtime
	log      logr.Logger
	settings *settingcontroller.Source
	store    inventory.Store
	options  Options

	written  map[string]*staleness.Guard // by kind
	attempts attempts
	slots    slots
	waiters  waiters
	told     told

	reportQueue, handsQueue trigger
}

func newShell(rt *runkit.Runtime, settings *settingcontroller.Source, store inventory.Store, options Options) *shell {
	s := &shell{rt: rt, log: rt.Log.WithName("instance"), settings: settings, store: store, options: options, written: map[string]*staleness.Guard{}}
	for _, kind := range kinds {
		s.written[kind] = &staleness.Guard{}
	}
	return s
}

// quarantineEnds is when this leader may touch names whose deletion a server may still execute. Who is not elected never may.
func (s *shell) quarantineEnds() time.Time {
	since := s.rt.ElectedAt()
	if since.IsZero() {
		return s.rt.Clock.Now().Add(s.options.Quarantine + time.Second)
	}
	return since.Add(s.options.Quarantine)
}

func (s *shell) logFor(key Key) logr.Logger {
	return s.log.WithValues("kind", key.Kind, "instance", key.Name)
}

// trigger is the queue of a controller, for those who wake it from outside. Before its start there is nothing to wake: it begins by looking at
// everything.
type trigger struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[Key]
}

func (t *trigger) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[Key]) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = queue
	return nil
}

func (t *trigger) add(keys ...Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue == nil {
		return
	}
	for _, key := range keys {
		t.queue.Add(key)
	}
}
