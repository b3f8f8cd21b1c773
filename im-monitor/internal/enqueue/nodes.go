package enqueue

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
)

// Node is the request of a controller with one key for each node; none where no node is named.
func Node(name string) []reconcile.Request {
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

// ByName enqueues the node of an object that has its name, such as a Node.
func ByName(_ context.Context, o client.Object) []reconcile.Request { return Node(o.GetName()) }

// NodeOf enqueues the node of an InstanceManager.
func NodeOf(_ context.Context, o client.Object) []reconcile.Request {
	return Node(o.(*v1beta2.InstanceManager).Spec.NodeID)
}
