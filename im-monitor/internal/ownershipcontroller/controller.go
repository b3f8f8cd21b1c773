// Package ownershipcontroller keeps status.ownerID of Engines, EngineFrontends, Replicas and InstanceManagers as package
// ownership decides. It is the one writer of that field there (an Orphan's is written by package orphancontroller).
//
// Work follows what changed: a changed object is one key; a node that went down or came back enqueues the objects whose
// spec.nodeID it is and those that it serves for another node, both by index, and no one else's.
package ownershipcontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;engines;enginefrontends;replicas;instancemanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines/status;enginefrontends/status;replicas/status;instancemanagers/status,verbs=patch,namespace=longhorn-system

// ByNode is the index of Engines, EngineFrontends, Replicas and InstanceManagers by spec.nodeID, for this package and other controllers: a
// hundred thousand replicas need one of it.
const ByNode = "drover.ownership.node"

const (
	workers = 4
	// bySubstitute indexes by status.ownerID where that is another node, or no one.
	bySubstitute = "drover.ownership.substitute"
	nowhere      = "-" // no node can have this name
)

// Setup registers one controller for each kind.
func Setup(ctx context.Context, rt *runkit.Runtime) error {
	for _, k := range kinds() {
		if err := setupKind(ctx, rt, k); err != nil {
			return fmt.Errorf("setting up the owners of %s: %w", k.name, err)
		}
	}
	return nil
}

func setupKind(ctx context.Context, rt *runkit.Runtime, k kind) error {
	indexer := rt.Manager.GetFieldIndexer()
	err := indexer.IndexField(ctx, k.object(), ByNode, func(o client.Object) []string {
		nodeID, _ := k.read(o)
		return nonEmpty(nodeID)
	})
	if err != nil {
		return fmt.Errorf("indexing by node: %w", err)
	}
	err = indexer.IndexField(ctx, k.object(), bySubstitute, func(o client.Object) []string {
		switch nodeID, owner := k.read(o); {
		case nodeID == owner:
			return nil
		case owner == "":
			return []string{nowhere}
		default:
			return []string{owner}
		}
	})
	if err != nil {
		return fmt.Errorf("indexing by owner: %w", err)
	}
	s := &reconciler{rt: rt, kind: k}
	return ctrl.NewControllerManagedBy(rt.Manager).Named(k.name+"-owner").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		For(k.object(), builder.WithPredicates(k.changed())).
		Watches(&v1beta2.Node{}, handler.EnqueueRequestsFromMapFunc(s.concerned), builder.WithPredicates(serviceChanged())).
		Complete(s)
}

func nonEmpty(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// changed lets everything but the node and the owner go by.
func (k kind) changed() predicate.Predicate {
	return predicate.Funcs{
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			oldNode, oldOwner := k.read(e.ObjectOld)
			newNode, newOwner := k.read(e.ObjectNew)
			return oldNode != newNode || oldOwner != newOwner
		},
	}
}

// serviceChanged lets those changes of a Node pass that make it down, back, ready or not ready.
func serviceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.Node), e.ObjectNew.(*v1beta2.Node)
		return node.IsDown(before) != node.IsDown(after) || serves(before) != serves(after)
	}}
}

// serves reports whether a node may stand in for another one.
func serves(n *v1beta2.Node) bool {
	return n.DeletionTimestamp == nil && conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady)
}

// concerned are the objects of a node and those that it serves for another one; where the node can serve, also those
// that no one serves yet.
func (s *reconciler) concerned(ctx context.Context, obj client.Object) []reconcile.Request {
	name := obj.GetName()
	lookups := []client.MatchingFields{{ByNode: name}, {bySubstitute: name}}
	if serves(obj.(*v1beta2.Node)) {
		lookups = append(lookups, client.MatchingFields{bySubstitute: nowhere})
	}
	var out []reconcile.Request
	for _, which := range lookups {
		list := s.kind.list()
		if err := s.rt.Client.List(ctx, list, client.InNamespace(s.rt.Namespace), which, client.UnsafeDisableDeepCopy); err != nil {
			s.rt.Log.Error(err, "listing objects of a node", "node", name, "kind", s.kind.name)
			continue
		}
		for _, key := range s.kind.keys(list) {
			out = append(out, reconcile.Request{NamespacedName: key})
		}
	}
	return out
}
