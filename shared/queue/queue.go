// Package queue makes the queues of controllers: controller-runtime's, whose metrics are computed when they are read. Its own metrics wake
// each queue twice a second, for the age of work under way that mostly does not exist: most of what a quiet process costs.
package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Pauses before an object that failed is evaluated again: the first, and the longest. What refused a write, such as a webhook without pods
// or a quota, goes without an event of the object; controller-runtime's own longest pause is 17 minutes.
const (
	firstRetry = 5 * time.Millisecond
	mostRetry  = 5 * time.Minute
)

// Options are those of a controller of objects with so many workers.
func Options(workers int) controller.Options {
	return controller.Options{MaxConcurrentReconciles: workers, NewQueue: New[reconcile.Request],
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, mostRetry)}
}

// New returns the queue of a controller, as controller-runtime wants it.
func New[T comparable](name string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T] {
	return newQueue(name, limiter, clock.RealClock{})
}

func newQueue[T comparable](name string, limiter workqueue.TypedRateLimiter[T], clock clock.PassiveClock) *queue[T] {
	// A queue without a name has no metrics.
	inner := priorityqueue.New("", func(o *priorityqueue.Opts[T]) { o.RateLimiter = limiter })
	q := &queue[T]{PriorityQueue: inner, name: name, limiter: limiter, clock: clock, ready: map[T]time.Time{}, begun: map[T]time.Time{}}
	live.add(q)
	return q
}

// queue observes what goes into a queue and what comes out of it.
type queue[T comparable] struct {
	priorityqueue.PriorityQueue[T]
	name    string
	limiter workqueue.TypedRateLimiter[T]
	clock   clock.PassiveClock

	mutex sync.Mutex
	ready map[T]time.Time // since when, or from when on, an item in the queue can be taken
	begun map[T]time.Time // when an item was taken that is not done
}

// AddWithOpts adds items.
func (q *queue[T]) AddWithOpts(o priorityqueue.AddOpts, items ...T) {
	if !o.RateLimited {
		q.note(o.After, items...)
		q.PriorityQueue.AddWithOpts(o, items...)
		return
	}
	for _, item := range items {
		after := q.limiter.When(item)
		if o.After > 0 {
			after = min(after, o.After)
		}
		q.note(after, item)
		q.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{After: after, Priority: o.Priority}, item)
	}
}

// note remembers from when on items can be taken; the queue takes the earliest time, too.
func (q *queue[T]) note(after time.Duration, items ...T) {
	ready := q.clock.Now().Add(max(after, 0))
	q.mutex.Lock()
	for _, item := range items {
		if known, queued := q.ready[item]; !queued || ready.Before(known) {
			q.ready[item] = ready
		}
	}
	q.mutex.Unlock()
	if after > 0 {
		retries.WithLabelValues(q.name, q.name).Add(float64(len(items)))
	}
}

// Add adds an item.
func (q *queue[T]) Add(item T) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter adds an item that can be taken after some time.
func (q *queue[T]) AddAfter(item T, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited adds an item that can be taken after the time that the rate limiter gives it.
func (q *queue[T]) AddRateLimited(item T) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// Get takes an item, once there is one.
func (q *queue[T]) Get() (item T, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// GetWithPriority takes the item of the highest priority, once there is one.
func (q *queue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	item, priority, shutdown = q.PriorityQueue.GetWithPriority()
	if shutdown {
		return item, priority, shutdown
	}
	now := q.clock.Now()
	q.mutex.Lock()
	ready, known := q.ready[item]
	delete(q.ready, item)
	q.begun[item] = now
	q.mutex.Unlock()
	adds.WithLabelValues(q.name, q.name).Inc()
	if known { // else it was added while it was taken
		waited.WithLabelValues(q.name, q.name).Observe(max(now.Sub(ready), 0).Seconds())
	}
	return item, priority, false
}

// Done ends the work on an item.
func (q *queue[T]) Done(item T) {
	q.mutex.Lock()
	begun, known := q.begun[item]
	delete(q.begun, item)
	q.mutex.Unlock()
	if known {
		worked.WithLabelValues(q.name, q.name).Observe(q.clock.Since(begun).Seconds())
	}
	q.PriorityQueue.Done(item)
}

// ShutDown ends the queue.
func (q *queue[T]) ShutDown() {
	live.remove(q)
	q.PriorityQueue.ShutDown()
}

// ShutDownWithDrain ends the queue.
func (q *queue[T]) ShutDownWithDrain() { q.ShutDown() }

// state is what the metrics of a moment report.
func (q *queue[T]) state() (name string, now state) {
	now.depth = float64(q.Len())
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, begun := range q.begun {
		age := q.clock.Since(begun).Seconds()
		now.unfinished += age
		now.longest = max(now.longest, age)
	}
	return q.name, now
}
