package disruptioncontroller

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
)

// cordonChanged lets heartbeats go by.
func cordonChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.(*corev1.Node).Spec.Unschedulable != e.ObjectNew.(*corev1.Node).Spec.Unschedulable
	}}
}

// lifeChanged lets by what changes within an instance manager that continues as it did.
func lifeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.InstanceManager), e.ObjectNew.(*v1beta2.InstanceManager)
		return before.Status.CurrentState != after.Status.CurrentState ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
	}}
}

// enginesChanged lets by what changes within instances, and replicas; lifeChanged reports the rest.
func enginesChanged() predicate.Predicate {
	no := func(event.CreateEvent) bool { return false }
	return predicate.Funcs{CreateFunc: no, DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*v1beta2.InstanceManager), e.ObjectNew.(*v1beta2.InstanceManager)
			return !sameKeys(before.Status.InstanceEngines, after.Status.InstanceEngines) ||
				!sameKeys(before.Status.InstanceEngineFrontends, after.Status.InstanceEngineFrontends) ||
				!maps.Equal(before.Labels, after.Labels)
		}}
}

func sameKeys[V any](a, b map[string]V) bool {
	return maps.EqualFunc(a, b, func(V, V) bool { return true })
}

// replicaChanged lets by what reports nothing about where data is.
func replicaChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.Replica), e.ObjectNew.(*v1beta2.Replica)
		return factsOf(before) != factsOf(after)
	}}
}

type facts struct {
	node, desired, current   string
	whole, failed, everWhole bool
	deleting                 bool
}

func factsOf(r *v1beta2.Replica) facts {
	return facts{node: r.Spec.NodeID, desired: r.Spec.DesireState, current: r.Status.CurrentState, whole: r.Spec.HealthyAt != "",
		failed: r.Spec.FailedAt != "", everWhole: r.Spec.LastHealthyAt != "", deleting: r.DeletionTimestamp != nil}
}

// budgetCameOrWent is all that counts for other nodes.
func budgetCameOrWent() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}

// budgetChanged lets the status go by, which Kubernetes writes with each pod; budgetCameOrWent reports the rest.
func budgetChanged() predicate.Predicate {
	no := func(event.CreateEvent) bool { return false }
	return predicate.Funcs{CreateFunc: no, DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
				!maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
		}}
}
