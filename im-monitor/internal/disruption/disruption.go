// Package disruption decides which instance managers have a PodDisruptionBudget. One that runs has a budget, so that no drain takes its
// pod; on a node that is being emptied it is deleted once the policy finds that nothing there needs the pod. It refuses to know
// how budgets are written.
package disruption

import (
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

// World is the input of one decision about the instance managers of a node.
type World struct {
	// Node is the name of the Kubernetes node.
	Node string
	// Cordoned: its spec.unschedulable is set.
	Cordoned bool
	// Policy is the setting node-drain-policy. Autoscaled is kubernetes-cluster-autoscaler-enabled: each node counts as one that is being
	// emptied.
	Policy     setting.DrainPolicy
	Autoscaled bool
	// Managers are the node's InstanceManagers of all data engines.
	Managers []v1beta2.InstanceManager
	// Instances are the node's Engines and EngineFrontends. What an instance manager lists is written some time after it was read: an engine
	// that has just started is in no list yet.
	Instances []Instance
	// Replicas are those that the node has.
	Replicas []Replica
}

// Instance is an Engine or EngineFrontend by its object. State is its current one.
type Instance struct{ Kind, Name, State string }

// Replica is a Replica of the node, with the other ones of its volume.
type Replica struct {
	*v1beta2.Replica
	Others []Other
}

// Other is another replica of the same volume.
type Other struct {
	*v1beta2.Replica
	// Cordoned reports that its node takes no pods, NodeGone that Kubernetes has no such node, Guarded that an instance manager of its data
	// engine runs there and has a budget.
	Cordoned, NodeGone, Guarded bool
}

// Verdict reports for one instance manager what becomes of its budget.
type Verdict struct {
	Manager *v1beta2.InstanceManager
	// Budget is Wanted, Given up (deleted), or unchanged.
	Budget Budget
	// Why reports what the budget protects, or why it protects nothing.
	Why string
}

// Budget is what must be.
type Budget int

// The budgets. As long as nothing is known of an instance manager, its budget stays as it is.
const (
	AsItIs Budget = iota
	Wanted
	GivenUp
)

// Decide evaluates all instance managers of a node. The order of lists does not matter.
func Decide(w World) []Verdict {
	w.Managers = slices.SortedFunc(slices.Values(w.Managers),
		func(a, b v1beta2.InstanceManager) int { return strings.Compare(a.Name, b.Name) })
	w.Replicas = slices.SortedFunc(slices.Values(w.Replicas), func(a, b Replica) int { return strings.Compare(a.Name, b.Name) })
	protects := needed(w)
	out := make([]Verdict, 0, len(w.Managers))
	for i := range w.Managers {
		out = append(out, decide(&w.Managers[i], w.Node, protects))
	}
	return out
}

func decide(m *v1beta2.InstanceManager, node, protects string) Verdict {
	v := Verdict{Manager: m}
	switch state := m.Status.CurrentState; {
	case len(Selector(m)) == 0:
		v.Why = "The instance manager has no labels, by which a budget could choose its pod."
	case m.DeletionTimestamp != nil || state == v1beta2.InstanceManagerStateStopped || state == v1beta2.InstanceManagerStateError:
		v.Budget, v.Why = GivenUp, "The instance manager does not run."
	case state != v1beta2.InstanceManagerStateRunning:
		v.Why = fmt.Sprintf("The instance manager is %q.", state)
	case protects == "":
		v.Budget, v.Why = GivenUp, fmt.Sprintf("Nothing on node %s needs the instance manager.", node)
	default:
		v.Budget, v.Why = Wanted, protects
	}
	return v
}

// needed is the first thing that the node's instance managers are needed for; empty: none.
func needed(w World) string {
	if !w.Cordoned && !w.Autoscaled {
		return fmt.Sprintf("Node %s takes pods.", w.Node)
	}
	if name := w.serving(); name != "" {
		return fmt.Sprintf("%s runs on node %s.", name, w.Node)
	}
	for _, r := range w.Replicas {
		if why := w.holds(r); why != "" {
			return why
		}
	}
	return ""
}

// serving is an engine or frontend that runs, or may run: an instance manager lists it, or its object's state says so. The first by name.
func (w World) serving() string {
	var names []string
	for i := range w.Managers {
		for name := range w.Managers[i].Status.InstanceEngines {
			names = append(names, "Engine "+name)
		}
		for name := range w.Managers[i].Status.InstanceEngineFrontends {
			names = append(names, "EngineFrontend "+name)
		}
	}
	for _, i := range w.Instances {
		if i.State != "" && i.State != v1beta2.InstanceStateStopped && i.State != v1beta2.InstanceStateError {
			names = append(names, i.Kind+" "+i.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// holds reports why the policy keeps a drain waiting for a replica; empty: it does not.
func (w World) holds(r Replica) string {
	switch {
	case w.Policy == setting.AlwaysAllow || neverStarted(r.Replica):
		return ""
	case w.Policy == setting.BlockForEviction:
		return fmt.Sprintf("Replica %s is on node %s; %s waits until it was evicted.", r.Name, w.Node, w.Policy)
	case w.Policy == setting.AllowIfReplicaIsStopped && stopped(r.Replica):
		return ""
	}
	for _, o := range r.Others {
		if w.staysProtected(o) {
			return ""
		}
	}
	if o := leavesBefore(r); o != nil {
		return fmt.Sprintf("Replica %s on node %s may be the last one of volume %s: replica %s is on node %s, which is cordoned as well "+
			"and is emptied first. Uncordon node %s, or wait until the volume has another replica; %s waits for one.",
			r.Name, w.Node, r.Spec.VolumeName, o.Name, o.Spec.NodeID, o.Spec.NodeID, w.Policy)
	}
	return fmt.Sprintf("Replica %s on node %s may be the last one of volume %s: none elsewhere is whole, on a node that takes pods, and "+
		"in an instance manager with a budget; %s waits for one.", r.Name, w.Node, r.Spec.VolumeName, w.Policy)
}

// leavesBefore returns a whole replica on another cordoned node, or nil. holds calls it once no replica elsewhere stays protected, so that
// the node of the returned replica is emptied before this one.
func leavesBefore(r Replica) *v1beta2.Replica {
	for _, o := range r.Others {
		if whole(o) && o.Cordoned && !o.NodeGone {
			return o.Replica
		}
	}
	return nil
}

// neverStarted: it never held data.
func neverStarted(r *v1beta2.Replica) bool {
	return r.Spec.HealthyAt == "" && r.Spec.LastHealthyAt == "" && r.Spec.DesireState != v1beta2.InstanceStateRunning
}

func stopped(r *v1beta2.Replica) bool {
	return r.Spec.DesireState == v1beta2.InstanceStateStopped && r.Status.CurrentState == v1beta2.InstanceStateStopped
}

// whole reports whether another replica has all data.
func whole(o Other) bool {
	return o.Spec.HealthyAt != "" && o.Spec.FailedAt == "" && o.DeletionTimestamp == nil
}

// staysProtected reports whether another replica is whole and no drain takes it while this node is emptied. If several nodes are
// cordoned, they are emptied in the order of their names: else the nodes with the last two replicas of a volume would wait for each other
// for ever. The later node keeps its budget until the earlier one takes pods again.
func (w World) staysProtected(o Other) bool {
	if !whole(o) || !o.Guarded || o.NodeGone {
		return false
	}
	return !o.Cordoned || w.Node < o.Spec.NodeID
}

// podLabels are the labels that an InstanceManager and its pod are made with.
var podLabels = []string{v1beta2.LabelComponent, v1beta2.LabelManagedBy, v1beta2.LabelNodeOfComponent, v1beta2.LabelDataEngine,
	v1beta2.LabelInstanceManagerType, v1beta2.LabelInstanceManagerImage}

// Selector are the labels by which a budget chooses the pod: those that it was made with, without what anybody else put on the object.
func Selector(m *v1beta2.InstanceManager) map[string]string {
	out := map[string]string{}
	for _, key := range podLabels {
		if value, ok := m.Labels[key]; ok {
			out[key] = value
		}
	}
	return out
}
