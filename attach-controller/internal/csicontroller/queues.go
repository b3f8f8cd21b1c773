package csicontroller

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
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

	mutex    sync.Mutex
	ofAttach queue
	ofVolume queue
}

// attachments and persistentVolumes are sources without events of their own: they take hold of the queue before any
// worker takes from it.
func (q *queues) attachments() source.Source {
	return source.Func(func(_ context.Context, into queue) error {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		q.ofAttach = into
		return nil
	})
}

func (q *queues) persistentVolumes() source.Source {
	return source.Func(func(_ context.Context, into queue) error {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		q.ofVolume = into
		return nil
	})
}

// all looks at everything anew.
func (q *queues) all(ctx context.Context) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.ofAttach != nil {
		var list storagev1.VolumeAttachmentList
		if err := q.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil && ctx.Err() == nil {
			q.log.Error(err, "listing VolumeAttachments at the beginning of a term")
		}
		for i := range list.Items {
			if list.Items[i].Spec.Attacher == csi.Driver {
				q.ofAttach.Add(request(list.Items[i].Name))
			}
		}
	}
	if q.ofVolume != nil {
		var list corev1.PersistentVolumeList
		if err := q.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil && ctx.Err() == nil {
			q.log.Error(err, "listing PersistentVolumes at the beginning of a term")
		}
		for i := range list.Items {
			q.ofVolume.Add(request(list.Items[i].Name))
		}
	}
}
