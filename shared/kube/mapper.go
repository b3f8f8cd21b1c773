package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Mapper maps the events of objects to the requests that they cause.
type Mapper struct {
	// Reader reads from the cache.
	Reader client.Reader
	// Namespace is that of the requests and of what is listed; empty for kinds without one, and to list all namespaces.
	Namespace string
}

// To enqueues the names that find returns, each once; an empty name causes no request. Of an update both objects are mapped.
func (m Mapper) To(find func(context.Context, client.Object) []string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		return m.Requests(find(ctx, obj)...)
	})
}

// Request is the request of one name.
func (m Mapper) Request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: m.Namespace, Name: name}}
}

// Requests are the requests of names; an empty name causes none.
func (m Mapper) Requests(names ...string) []reconcile.Request {
	var out []reconcile.Request
	for _, name := range names {
		if name != "" {
			out = append(out, m.Request(name))
		}
	}
	return out
}

// Enqueue adds the requests of names to a queue.
func (m Mapper) Enqueue(q Queue, names ...string) {
	for _, request := range m.Requests(names...) {
		q.Add(request)
	}
}

// List fills a list from the cache; its items are shared with the cache and never modified. A namespace among the options wins.
func (m Mapper) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) {
	if err := lookup.ListShared(ctx, m.Reader, m.Namespace, into, options...); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "reading from the cache")
	}
}

// Names are the names of the objects in the cache that the options select.
func (m Mapper) Names(ctx context.Context, into client.ObjectList, options ...client.ListOption) []string {
	return m.NamesBy(ctx, client.Object.GetName, into, options...)
}

// NamesBy are what name returns for each object in the cache that the options select.
func (m Mapper) NamesBy(ctx context.Context, name func(client.Object) string, into client.ObjectList,
	options ...client.ListOption) []string {
	m.List(ctx, into, options...)
	var out []string
	_ = meta.EachListItem(into, func(item runtime.Object) error { // it fails only where the function does
		out = append(out, name(item.(client.Object)))
		return nil
	})
	return out
}

// VolumeName is v1beta2.VolumeNameOf as a function of a client.Object.
func VolumeName(obj client.Object) string { return v1beta2.VolumeNameOf(obj) }

// NodeName is v1beta2.NodeNameOf as a function of a client.Object.
func NodeName(obj client.Object) string { return v1beta2.NodeNameOf(obj) }
