package snapshotexecutor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

const (
	// byVolume finds Snapshots by their volume in the cache.
	byVolume = "drover.snapshot.volume"
	// selectVolume selects Snapshots by their volume at the API server.
	selectVolume = "spec.volume"
)

// Executor handles the snapshots of polled engines.
type Executor struct {
	rt      *runkit.Runtime
	log     logr.Logger
	options Options
	memory  memory
	guard   execute.Guard
	still   Still
}

// Still reads an engine uncached; an error reports why nothing may be called on it now.
type Still func(ctx context.Context, e *v1beta2.Engine) error

// New creates an Executor, and the index that it needs.
func New(ctx context.Context, rt *runkit.Runtime, options Options, still Still) (*Executor, error) {
	err := rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.Snapshot{}, byVolume, func(o client.Object) []string {
		return []string{o.(*v1beta2.Snapshot).Spec.Volume}
	})
	if err != nil {
		return nil, fmt.Errorf("indexing snapshots: %w", err)
	}
	return &Executor{rt: rt, log: rt.Log.WithName("snapshots"), options: options,
		guard: execute.Guard{Clock: rt.Clock, Observe: rt.Observe}, still: still}, nil
}

// Poll is one complete poll of a running engine.
type Poll struct {
	Engine *v1beta2.Engine
	// Run identifies the run of the engine.
	Run  string
	Seen engine.Seen
	// Began is when its first question was sent.
	Began time.Time
	// Proxy and Target are where calls go that change snapshots.
	Proxy  *imclient.Proxy
	Target imclient.Target
	// Alone reports whether no other engine of the volume is to run, Adding that a replica is being added, Busy that another
	// operation of this engine is in progress.
	Alone, Adding, Busy bool
	// Period is the time between polls during an operation.
	Period time.Duration
}

// Pass decides on a poll and sends the calls that are due. It returns how long until the next poll is due because of snapshots; zero is
// whenever.
func (h *Executor) Pass(ctx context.Context, l Poll) (requeueAt time.Duration, err error) {
	w, evaluated, err := h.observe(ctx, l)
	if err != nil {
		return 0, err
	}
	v := enginesnapshot.Decide(w)
	h.memory.keep(l, v.Memory)
	again := h.report(ctx, evaluated, v.Changes)
	if !h.rt.Observe {
		for _, name := range v.Mirror {
			again = errors.Join(again, h.mirror(ctx, l, name))
		}
		next := h.take(ctx, l, v.Take)
		if next = sooner(next, h.remove(ctx, l, evaluated, v)); next > 0 {
			return next, nil // the failed write is repeated then
		}
	}
	if status.IsConflict(again) {
		return conflictPause, nil
	}
	if !v.RequeueAt.IsZero() {
		requeueAt = max(v.RequeueAt.Sub(h.rt.Clock.Now()), soon)
	}
	return requeueAt, again
}

// Reported returns the snapshots of Engine.status after the poll, and how long until the next poll may prove that
// one of them is gone; zero is whenever.
func (h *Executor) Reported(l Poll) (reported map[string]v1beta2.SnapshotInfo, requeueAt time.Duration) {
	if l.Seen.Snapshots == nil {
		return nil, 0
	}
	reported, unlisted, at := enginesnapshot.Reported(l.Engine.Status.Snapshots, l.Seen.Snapshots, h.memory.view(l), l.Began, h.options.Gap)
	h.memory.reported(l, unlisted)
	if !at.IsZero() {
		requeueAt = max(at.Sub(h.rt.Clock.Now()), soon)
	}
	return reported, requeueAt
}

// Forget drops the memory of an engine that does not run.
func (h *Executor) Forget(name string) { h.memory.forget(name) }
