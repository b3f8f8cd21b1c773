package testkit

import (
	"context"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// together is how long a Reactor collects changes before it reacts: one change is rarely alone, and each reaction lists objects.
const together = 10 * time.Millisecond

// Reactor plays other controllers: it acts on what is there whenever that changes.
type Reactor struct {
	due chan struct{}
	// failure is the error of the last call that failed.
	failure error
	// Stop ends it before the test does: no call is under way when it returns.
	Stop func()
}

// React calls react now and after each change of an object of these kinds in the namespace, one call at a time, until the test ends.
// A call that returns an error, such as a conflict, is made again.
func React(t testing.TB, c client.WithWatch, namespace string, react func(context.Context) error, kinds ...client.ObjectList) *Reactor {
	r := &Reactor{due: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, kind := range kinds {
		group.Go(func() { r.watch(ctx, c, namespace, kind) })
	}
	group.Go(func() { r.run(ctx, react) })
	r.Stop = func() {
		cancel()
		group.Wait()
	}
	t.Cleanup(func() {
		r.Stop()
		if r.failure != nil && t.Failed() {
			t.Logf("a controller that the test plays failed last with: %v", r.failure)
		}
	})
	r.Again()
	return r
}

// Again makes a call due, as if an object had changed.
func (r *Reactor) Again() {
	select {
	case r.due <- struct{}{}:
	default: // one is due already
	}
}

// watch makes a call due with each change. A watch that ends, as when the API server is restarted, begins again.
func (r *Reactor) watch(ctx context.Context, c client.WithWatch, namespace string, kind client.ObjectList) {
	for ; ctx.Err() == nil; pause(ctx, Poll) {
		events, err := c.Watch(ctx, kind, client.InNamespace(namespace))
		if err != nil {
			continue
		}
		r.Again()
		for range events.ResultChan() {
			r.Again()
		}
		events.Stop()
	}
}

func (r *Reactor) run(ctx context.Context, react func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.due:
		}
		pause(ctx, together)
		select {
		case <-r.due: // what changed meanwhile is read now
		default:
		}
		if err := react(ctx); err != nil && ctx.Err() == nil {
			r.failure = err
			r.Again()
		}
	}
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
