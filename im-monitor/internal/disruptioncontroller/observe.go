package disruptioncontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/disruption"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// observer reads the world of a node. The cache is asked by indexes, the API server by fields.
type observer struct {
	client.Reader
	settings         *settingcontroller.Source
	namespace        string
	byNode, byVolume string
}

func (s *keeper) cached() observer {
	return observer{Reader: s.rt.Client, settings: s.settings, namespace: s.rt.Namespace, byNode: kube.FieldNode, byVolume: kube.FieldVolume}
}

func (s *keeper) live() observer {
	return observer{Reader: s.rt.Uncached, settings: s.settings, namespace: s.rt.Namespace, byNode: "spec.nodeID",
		byVolume: "spec.volumeName"}
}

// observe reads one node. What it has is read only where the node is being drained: else its budgets stand in any case.
func (o observer) observe(ctx context.Context, node string) (disruption.World, error) {
	w := disruption.World{Node: node}
	settings, err := o.settings.Current(ctx)
	if err != nil {
		return w, err
	}
	w.Policy, w.Autoscaled = settings.DrainPolicy, settings.ClusterAutoscaler
	if w.Cordoned, err = o.cordoned(ctx, node); err != nil {
		return w, err
	}
	if w.Managers, err = o.managers(ctx, node); err != nil || !w.Cordoned && !w.Autoscaled {
		return w, err
	}
	if w.Instances, err = o.instances(ctx, node); err != nil {
		return w, err
	}
	w.Replicas, err = o.replicas(ctx, node)
	return w, err
}

// instances are the node's engines and frontends.
func (o observer) instances(ctx context.Context, node string) ([]disruption.Instance, error) {
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	if err := lookup.ListShared(ctx, o, o.namespace, &engines, client.MatchingFields{o.byNode: node}); err != nil {
		return nil, err
	}
	if err := lookup.ListShared(ctx, o, o.namespace, &frontends, client.MatchingFields{o.byNode: node}); err != nil {
		return nil, err
	}
	out := make([]disruption.Instance, 0, len(engines.Items)+len(frontends.Items))
	for i := range engines.Items {
		out = append(out, disruption.Instance{Kind: "Engine", Name: engines.Items[i].Name, State: engines.Items[i].Status.CurrentState})
	}
	for i := range frontends.Items {
		f := &frontends.Items[i]
		out = append(out, disruption.Instance{Kind: "EngineFrontend", Name: f.Name, State: f.Status.CurrentState})
	}
	return out, nil
}

// cordoned reports whether the Kubernetes node takes no pods, or is gone.
func (o observer) cordoned(ctx context.Context, name string) (bool, error) {
	cordoned, gone, err := o.readNode(ctx, name)
	return cordoned || gone, err
}

// readNode reports whether the Kubernetes node takes no pods, and whether it is gone.
func (o observer) readNode(ctx context.Context, name string) (cordoned, gone bool, err error) {
	n, err := lookup.Shared(ctx, o, "", name, &corev1.Node{})
	return n != nil && n.Spec.Unschedulable, n == nil && err == nil, err
}

func (o observer) managers(ctx context.Context, node string) ([]v1beta2.InstanceManager, error) {
	var list v1beta2.InstanceManagerList
	err := lookup.ListShared(ctx, o, o.namespace, &list, client.MatchingFields{o.byNode: node})
	return list.Items, err
}

func (o observer) budget(ctx context.Context, manager string) (*policyv1.PodDisruptionBudget, error) {
	return lookup.Shared(ctx, o, o.namespace, manager, &policyv1.PodDisruptionBudget{})
}

// replicas are the node's, each with the other ones of its volume.
func (o observer) replicas(ctx context.Context, node string) ([]disruption.Replica, error) {
	var here v1beta2.ReplicaList
	if err := lookup.ListShared(ctx, o, o.namespace, &here, client.MatchingFields{o.byNode: node}); err != nil {
		return nil, err
	}
	known := map[string]place{}
	var out []disruption.Replica
	for i := range here.Items {
		if v1beta2.IsSecondProcess(&here.Items[i]) { // its data is that of another one
			continue
		}
		r := disruption.Replica{Replica: &here.Items[i]}
		var volume v1beta2.ReplicaList
		err := lookup.ListShared(ctx, o, o.namespace, &volume, client.MatchingFields{o.byVolume: r.Spec.VolumeName})
		if err != nil {
			return nil, err
		}
		for j := range volume.Items {
			other := &volume.Items[j]
			if other.Spec.NodeID == node || other.Spec.NodeID == "" || v1beta2.IsSecondProcess(other) {
				continue
			}
			at, err := o.place(ctx, known, other.Spec.NodeID)
			if err != nil {
				return nil, err
			}
			r.Others = append(r.Others, disruption.Other{Replica: other, Cordoned: at.cordoned, NodeGone: at.gone,
				Guarded: at.guarded[other.Spec.DataEngine]})
		}
		out = append(out, r)
	}
	return out, nil
}

// place describes another node: whether it takes no pods or is gone, and which data engines have a running instance manager with a budget.
type place struct {
	cordoned, gone bool
	guarded        map[string]bool
}

func (o observer) place(ctx context.Context, known map[string]place, node string) (place, error) {
	if p, ok := known[node]; ok {
		return p, nil
	}
	p := place{guarded: map[string]bool{}}
	var err error
	if p.cordoned, p.gone, err = o.readNode(ctx, node); err != nil {
		return p, err
	}
	managers, err := o.managers(ctx, node)
	if err != nil {
		return p, err
	}
	for i := range managers {
		m := &managers[i]
		if m.Status.CurrentState != v1beta2.InstanceManagerStateRunning || m.DeletionTimestamp != nil {
			continue
		}
		budget, err := o.budget(ctx, m.Name)
		if err != nil {
			return p, err
		}
		if budget != nil && budget.DeletionTimestamp == nil {
			p.guarded[m.Spec.DataEngine] = true
		}
	}
	known[node] = p
	return p, nil
}
