package nodecontroller

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// kubernetesChanged lets heartbeats go by: only what package node reads counts.
func kubernetesChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(node.FromKubernetes(e.ObjectOld.(*corev1.Node)), node.FromKubernetes(e.ObjectNew.(*corev1.Node)))
	}}
}

// nodeChanged lets what disks report go by, but for what is summed up of it.
func nodeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.Node), e.ObjectNew.(*v1beta2.Node)
		return before.UID != after.UID || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			!reflect.DeepEqual(before.Finalizers, after.Finalizers) ||
			!conditions.Equal(before.Status.Conditions, after.Status.Conditions) ||
			before.Status.Region != after.Status.Region || before.Status.Zone != after.Status.Zone || disks(before) != disks(after)
	}}
}

// disks are the sums, and what the status reports of them.
func disks(n *v1beta2.Node) [4]string {
	ready, storage := node.Disks(n)
	return [4]string{ready, storage, n.Status.DisksReady, n.Status.Storage}
}

// managerChanged lets instances go by.
func managerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return node.FromInstanceManager(e.ObjectOld.(*v1beta2.InstanceManager)) != node.FromInstanceManager(
			e.ObjectNew.(*v1beta2.InstanceManager))
	}}
}
