package upgradecontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// addLeftover enqueues cordoned nodes on events that may end their waiting. If no node is cordoned, an event costs one cached read of a
// node.
func (w watches) addLeftover(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.NodeDataEngineUpgrade{}, w.to(w.closedNode),
			changed(func(u *v1beta2.NodeDataEngineUpgrade) []any { return []any{u.Status.State} })).
		Watches(&v1beta2.InstanceManager{}, w.to(w.closedNode), changed(instanceManagerFacts)).
		Watches(&v1beta2.Volume{}, w.to(w.closedNode), changed(volumeFacts))
}

// closed lets cordoned nodes pass.
func closed() predicate.Predicate {
	is := func(o client.Object) bool { return o.(*v1beta2.Node).Spec.UpgradeRequested }
	facts := func(o client.Object) [2]bool { return [2]bool{is(o), v1beta2.IsNodeDown(o.(*v1beta2.Node))} }
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return is(e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return is(e.ObjectNew) && facts(e.ObjectOld) != facts(e.ObjectNew) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// closedNode are the cordoned nodes that the object is about.
func (w watches) closedNode(ctx context.Context, obj client.Object) (names []string) {
	for _, name := range nodesOf(obj) {
		node, err := lookup.Shared(ctx, w.reader, w.namespace, name, &v1beta2.Node{})
		if err != nil {
			// A read from a running cache fails only while the process stops.
			log.FromContext(ctx).Error(err, "reading a node from the cache")
		}
		if node != nil && node.Spec.UpgradeRequested {
			names = append(names, name)
		}
	}
	return names
}

func nodesOf(obj client.Object) []string {
	switch o := obj.(type) {
	case *v1beta2.NodeDataEngineUpgrade:
		return []string{o.Spec.NodeID}
	case *v1beta2.InstanceManager:
		return []string{o.Spec.NodeID}
	case *v1beta2.Volume:
		return []string{o.Spec.NodeID, o.Status.CurrentNodeID}
	}
	return nil
}
