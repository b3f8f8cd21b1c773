package instancemanagercontroller

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
)

func (s *reconciler) managersOfNode(ctx context.Context, obj client.Object) []reconcile.Request {
	return s.managers(ctx, client.MatchingFields{byNode: obj.GetName()})
}

func (s *reconciler) managersOfKubernetesNode(ctx context.Context, obj client.Object) []reconcile.Request {
	return s.managers(ctx, client.MatchingFields{byNode: obj.GetName()})
}

func (s *reconciler) siblings(ctx context.Context, obj client.Object) []reconcile.Request {
	return s.managers(ctx, client.MatchingFields{byNode: obj.(*v1beta2.InstanceManager).Spec.NodeID})
}

func (s *reconciler) siblingsOfPod(ctx context.Context, obj client.Object) []reconcile.Request {
	return s.managers(ctx, client.MatchingFields{byNode: obj.(*corev1.Pod).Spec.NodeName})
}

func (s *reconciler) allManagers(ctx context.Context, _ client.Object) []reconcile.Request {
	return s.managers(ctx)
}

func (s *reconciler) managers(ctx context.Context, which ...client.ListOption) []reconcile.Request {
	var list v1beta2.InstanceManagerList
	options := append([]client.ListOption{client.InNamespace(s.rt.Namespace), client.UnsafeDisableDeepCopy}, which...)
	if err := s.rt.Client.List(ctx, &list, options...); err != nil {
		s.rt.Log.Error(err, "listing instance managers to wake")
	}
	out := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

func (s *reconciler) allNodes(ctx context.Context, _ client.Object) []reconcile.Request {
	var list v1beta2.NodeList
	if err := s.rt.Client.List(ctx, &list, client.InNamespace(s.rt.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing nodes after a setting changed")
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, enqueue.Node(list.Items[i].Name)...)
	}
	return out
}

// kubernetesChanged lets heartbeats go by.
func kubernetesChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(node.FromKubernetes(e.ObjectOld.(*corev1.Node)), node.FromKubernetes(e.ObjectNew.(*corev1.Node)))
	}}
}

// lifeChanged lets every status go by.
func lifeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.Node), e.ObjectNew.(*v1beta2.Node)
		return before.UID != after.UID || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			before.Spec.InstanceManagerCPURequest != after.Spec.InstanceManagerCPURequest ||
			before.Spec.UpgradeRequested != after.Spec.UpgradeRequested
	}}
}

func podChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)
		return before.UID != after.UID || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			!reflect.DeepEqual(before.Status, after.Status)
	}}
}

// runsChanged lets an update pass with which an instance manager begins to run, or runs no more.
func runsChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*v1beta2.InstanceManager).Status.CurrentState,
				e.ObjectNew.(*v1beta2.InstanceManager).Status.CurrentState
			return before != after && (before == v1beta2.InstanceManagerStateRunning || after == v1beta2.InstanceManagerStateRunning)
		},
	}
}

func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
