package disruptioncontroller

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func cordoned(n *corev1.Node) bool { return n.Spec.Unschedulable }

func state(im *v1beta2.InstanceManager) string { return im.Status.CurrentState }

// labels choose the pod of an instance manager.
func labels(im *v1beta2.InstanceManager) map[string]string { return im.Labels }

// listsOthers reports whether an instance manager has other engines or frontends than before, whatever changed within them.
func listsOthers(before, after *v1beta2.InstanceManager) bool {
	was, is := before.Status, after.Status
	return !sameNames(was.InstanceEngines, is.InstanceEngines) || !sameNames(was.InstanceEngineFrontends, is.InstanceEngineFrontends)
}

func sameNames[V any](a, b map[string]V) bool {
	return maps.EqualFunc(a, b, func(V, V) bool { return true })
}

// instance is what matters of an Engine or EngineFrontend: whether it may run, and where.
type instance struct{ node, state string }

func engineFacts(e *v1beta2.Engine) instance { return instance{e.Spec.NodeID, e.Status.CurrentState} }

func frontendFacts(f *v1beta2.EngineFrontend) instance {
	return instance{f.Spec.NodeID, f.Status.CurrentState}
}

// facts are what reports where data is.
type facts struct {
	node, desired, current   string
	whole, failed, everWhole bool
	second                   bool
}

func replicaFacts(r *v1beta2.Replica) facts {
	return facts{node: r.Spec.NodeID, desired: r.Spec.DesireState, current: r.Status.CurrentState, whole: r.Spec.HealthyAt != "",
		failed: r.Spec.FailedAt != "", everWhole: r.Spec.LastHealthyAt != "", second: v1beta2.IsSecondProcess(r)}
}

// budget is what matters of a budget: not its status, which Kubernetes writes with each pod.
type budget struct {
	Generation  int64
	Annotations map[string]string
}

func budgetFacts(b *policyv1.PodDisruptionBudget) budget { return budget{b.Generation, b.Annotations} }
