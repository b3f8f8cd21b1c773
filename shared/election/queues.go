package election

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Queues are those of the controllers, which run all the time, so that the beginning of a term can add what
// was skipped before it.
type Queues struct {
	Reader client.Reader
	Log    logr.Logger

	mutex sync.Mutex
	known []known
}

// known is one controller's queue, and the objects that belong into it.
type known struct {
	queue queue
	list  func() client.ObjectList
	wants func(client.Object) bool
}

// Source has no events of its own: it keeps a controller's queue, to which it adds the wanted objects of the list,
// before any worker reads from it. A term that begins before that needs no call: the controller begins with everything.
func (q *Queues) Source(list func() client.ObjectList, wants func(client.Object) bool) source.Source {
	return source.Func(func(_ context.Context, into queue) error {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		q.known = append(q.known, known{into, list, wants})
		return nil
	})
}

// All enqueues everything again.
func (q *Queues) All(ctx context.Context) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, k := range q.known {
		list := k.list()
		if err := q.Reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			// A list from a running cache fails only while the process stops.
			q.Log.Error(err, "listing at the beginning of a term")
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error { // it fails only where the function does
			if obj := item.(client.Object); k.wants(obj) {
				k.queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
			}
			return nil
		})
	}
}
