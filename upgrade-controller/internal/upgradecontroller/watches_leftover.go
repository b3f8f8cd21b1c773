package upgradecontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// addLeftover enqueues cordoned nodes on events that may end their waiting. If no node is cordoned, an event costs one cached read of a
// node.
func (w watches) addLeftover(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.NodeDataEngineUpgrade{}, w.To(w.cordonedNodes),
			changed(func(u *v1beta2.NodeDataEngineUpgrade) []any { return []any{u.Status.State} })).
		Watches(&v1beta2.InstanceManager{}, w.To(w.cordonedNodes), changed(instanceManagerFacts)).
		Watches(&v1beta2.Volume{}, w.To(w.cordonedNodes), changed(volumeFacts))
}

// onCordoned passes a cordoned node when it appears, when its cordon begins, and when it goes down or comes back.
func onCordoned() predicate.Predicate {
	cordoned := func(n *v1beta2.Node) bool { return n.Spec.UpgradeRequested }
	facts := func(n *v1beta2.Node) [2]bool { return [2]bool{cordoned(n), v1beta2.IsNodeDown(n)} }
	return predicate.And(kube.If(cordoned), kube.OnChange(facts), predicate.Funcs{
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	})
}

// cordonedNodes are the cordoned nodes that the object is about.
func (w watches) cordonedNodes(ctx context.Context, obj client.Object) (names []string) {
	for _, name := range nodesOf(obj) {
		node, err := lookup.Shared(ctx, w.Reader, w.Namespace, name, &v1beta2.Node{})
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
