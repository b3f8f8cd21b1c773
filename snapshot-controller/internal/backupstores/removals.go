package backupstores

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/retry"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
)

// pauses are those between attempts to remove the same data.
var pauses = retry.Pause{First: 10 * time.Second, Longest: 10 * time.Minute}

// Removals runs removals beside the controllers that request them. What it knows is lost with the process: the next one looks again.
type Removals struct {
	// Notify is called with the name of the object whose removal ended.
	Notify func(name string)
	// Fence ends removals of a process that does not lead any more.
	Fence *leaselock.Fence
	// Now is the clock.
	Now func() time.Time

	mutex sync.Mutex
	ctx   context.Context //nolint:containedctx // of the leadership, in which every removal runs
	wait  sync.WaitGroup
	known map[types.UID]*attempts
}

// NewRemovals returns removals, and the source that brings the name of each object whose removal began or ended.
func NewRemovals(ctx context.Context, rt *runkit.Runtime) (*Removals, source.TypedSource[ctrl.Request]) {
	ended := make(chan event.TypedGenericEvent[string], 1)
	m := kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}
	r := &Removals{Fence: rt.Fence, Now: rt.Clock.Now, Notify: func(name string) {
		select {
		case ended <- event.TypedGenericEvent[string]{Object: name}:
		case <-ctx.Done():
		}
	}}
	return r, source.TypedChannel(ended, handler.TypedFuncs[string, ctrl.Request]{
		GenericFunc: func(_ context.Context, e event.TypedGenericEvent[string], q kube.Queue) { m.Enqueue(q, e.Object) },
	})
}

type attempts struct {
	backuplist.Progress
	failures int
}

// Start implements manager.Runnable: removals run only while this process leads.
func (r *Removals) Start(ctx context.Context) error {
	r.mutex.Lock()
	r.ctx = ctx
	r.mutex.Unlock()
	<-ctx.Done()
	r.mutex.Lock()
	r.ctx = nil
	r.mutex.Unlock()
	r.wait.Wait()
	return nil
}

// Of returns how far a removal is.
func (r *Removals) Of(uid types.UID) backuplist.Progress {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if a := r.known[uid]; a != nil {
		return a.Progress
	}
	return backuplist.Progress{}
}

// Forget drops what is known of an object that is gone.
func (r *Removals) Forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if a := r.known[uid]; a != nil && !a.Running {
		delete(r.known, uid)
	}
}

// Begin runs the removal of an object's data, unless it is under way. It reports whether it began. remove returns nil once the target was
// seen without the data.
func (r *Removals) Begin(uid types.UID, name string, remove func(context.Context) (note string, err error)) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.ctx == nil {
		return false
	}
	if r.known == nil {
		r.known = map[types.UID]*attempts{}
	}
	a := r.known[uid]
	if a == nil {
		a = &attempts{}
		r.known[uid] = a
	}
	if a.Running {
		return false
	}
	a.Progress = backuplist.Progress{Running: true}
	ctx := r.ctx
	r.wait.Go(func() {
		guarded, stop := r.Fence.Guard(ctx)
		note, err := remove(guarded)
		stop()
		r.mutex.Lock()
		a.Progress = backuplist.Progress{Gone: err == nil, Note: note}
		if err != nil {
			a.failures++
			a.Problem, a.Again = err.Error(), r.Now().Add(pauses.After(a.failures))
		}
		r.mutex.Unlock()
		r.Notify(name)
	})
	return true
}
