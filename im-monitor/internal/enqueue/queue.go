// Package enqueue lets what is no watch of the API server, such as a change of the inventory or a call that ended, enqueue a controller.
package enqueue

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue is the queue of a controller, for those who enqueue it from outside. The zero value is ready; before the controller's start there
// is nothing to enqueue: it begins by reconciling everything.
type Queue[K comparable] struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[K]
}

// Start takes the controller's queue; it is a source.TypedFunc.
func (q *Queue[K]) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[K]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = queue
	return nil
}

// Add enqueues the keys.
func (q *Queue[K]) Add(keys ...K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queue == nil {
		return
	}
	for _, key := range keys {
		q.queue.Add(key)
	}
}

// AddAfter enqueues one key later.
func (q *Queue[K]) AddAfter(key K, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queue != nil {
		q.queue.AddAfter(key, wait)
	}
}
