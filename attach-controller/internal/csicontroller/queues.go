package csicontroller

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/attach-controller/internal/csi"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// queues are those of the controllers, which run all the time, so that the beginning of a term can put into them what
// went by before it.
type queues struct {
	reader client.Reader
	log    logr.Logger

	mutex sync.Mutex
	known []known
}

// known is one controller's queue, and what belongs into it.
type known struct {
	queue queue
	list  func() client.ObjectList
	wants func(client.Object) bool
}

// attachments takes hold of the queue of VolumeAttachments.
func (q *queues) attachments() source.Source {
	list := func() client.ObjectList { return &storagev1.VolumeAttachmentList{} }
	return q.source(list, func(obj client.Object) bool { return obj.(*storagev1.VolumeAttachment).Spec.Attacher == csi.Driver })
}

// persistentVolumes takes hold of the queue of PersistentVolumes.
func (q *queues) persistentVolumes() source.Source {
	list := func() client.ObjectList { return &corev1.PersistentVolumeList{} }
	return q.source(list, func(obj client.Object) bool { return obj.GetDeletionTimestamp() != nil })
}

// source has no events of its own: it takes hold of the queue before any worker takes from it. What begins to lead before
// that need not be told: the controller begins with everything.
func (q *queues) source(list func() client.ObjectList, wants func(client.Object) bool) source.Source {
	return source.Func(func(_ context.Context, into queue) error {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		q.known = append(q.known, known{into, list, wants})
		return nil
	})
}

// all looks at everything anew.
func (q *queues) all(ctx context.Context) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, k := range q.known {
		list := k.list()
		if err := q.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			// A list from a running cache fails only while the process stops.
			q.log.Error(err, "listing at the beginning of a term")
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error { // it fails only where the function does
			if obj := item.(client.Object); k.wants(obj) {
				k.queue.Add(request(obj.GetName()))
			}
			return nil
		})
	}
}
