package disruptioncontroller

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
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

// managerChanged lets by what only changes within instances, and replicas.
func managerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.InstanceManager), e.ObjectNew.(*v1beta2.InstanceManager)
		return before.Status.CurrentState != after.Status.CurrentState || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			!sameKeys(before.Status.InstanceEngines, after.Status.InstanceEngines) ||
			!sameKeys(before.Status.InstanceEngineFrontends, after.Status.InstanceEngineFrontends)
	}}
}

func sameKeys[V any](a, b map[string]V) bool {
	return maps.EqualFunc(a, b, func(V, V) bool { return true })
}

// replicaChanged lets by what says nothing about where data is.
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

// budgetChanged lets the status go by, which Kubernetes writes with each pod.
func budgetChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*policyv1.PodDisruptionBudget), e.ObjectNew.(*policyv1.PodDisruptionBudget)
		return before.Generation != after.Generation || !equality.Semantic.DeepEqual(before.Annotations, after.Annotations)
	}}
}
