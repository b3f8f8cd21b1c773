package disruptioncontroller

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func cordoned(n *corev1.Node) bool { return n.Spec.Unschedulable }

func state(im *v1beta2.InstanceManager) string { return im.Status.CurrentState }

// contents are what matters of an instance manager beside its state: which engines and frontends it has, whatever changes within them.
type contents struct {
	Labels             map[string]string
	Engines, Frontends []string
}

func content(im *v1beta2.InstanceManager) contents {
	return contents{im.Labels, slices.Sorted(maps.Keys(im.Status.InstanceEngines)),
		slices.Sorted(maps.Keys(im.Status.InstanceEngineFrontends))}
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
}

func replicaFacts(r *v1beta2.Replica) facts {
	return facts{node: r.Spec.NodeID, desired: r.Spec.DesireState, current: r.Status.CurrentState, whole: r.Spec.HealthyAt != "",
		failed: r.Spec.FailedAt != "", everWhole: r.Spec.LastHealthyAt != ""}
}

// budget is what matters of a budget: not its status, which Kubernetes writes with each pod.
type budget struct {
	Generation  int64
	Annotations map[string]string
}

func budgetFacts(b *policyv1.PodDisruptionBudget) budget { return budget{b.Generation, b.Annotations} }
