// Package disruptioncontroller makes the verdicts of package disruption true: it creates, explains and deletes the PodDisruptionBudget of
// each instance manager, one key per node. One worker: whether a budget may go depends on those of other nodes, so that they go one after
// the other.
package disruptioncontroller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers;engines;enginefrontends;replicas,verbs=list;watch,namespace=longhorn-system

// Protects is the annotation of a budget that reports what it protects.
const Protects = "drover.dev/protects"

type keeper struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	mapper   kube.Mapper
}

// Setup registers the controller of budgets.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source) error {
	err := rt.AddIndexes(ctx, kube.ByNode(&v1beta2.InstanceManager{}), kube.ByNode(&v1beta2.Engine{}), kube.ByNode(&v1beta2.EngineFrontend{}),
		kube.ByNode(&v1beta2.Replica{}), kube.ByVolume(&v1beta2.Replica{}))
	if err != nil {
		return err
	}
	s := &keeper{rt: rt, settings: settings, mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	nodes := kube.Mapper{Reader: rt.Client}
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("disruption").
		WithOptions(queue.Options(1)).
		Watches(&corev1.Node{}, nodes.To(s.aroundNode), builder.WithPredicates(kube.OnChange(cordoned))).
		Watches(&v1beta2.InstanceManager{}, nodes.To(s.aroundManager), builder.WithPredicates(kube.OnChange(state))).
		Watches(&v1beta2.InstanceManager{}, nodes.To(enqueue.Node), builder.WithPredicates(kube.OnDeepChange(labels))).
		Watches(&v1beta2.InstanceManager{}, nodes.To(s.emptied(enqueue.Node)), builder.WithPredicates(kube.OnDifference(listsOthers))).
		Watches(&v1beta2.Engine{}, nodes.To(s.emptied(enqueue.Node)), builder.WithPredicates(kube.OnChange(engineFacts))).
		Watches(&v1beta2.EngineFrontend{}, nodes.To(s.emptied(enqueue.Node)), builder.WithPredicates(kube.OnChange(frontendFacts))).
		Watches(&v1beta2.Replica{}, nodes.To(s.emptied(s.nodesOfVolume)), builder.WithPredicates(kube.OnChange(replicaFacts))).
		Watches(&policyv1.PodDisruptionBudget{}, nodes.To(s.aroundBudget), builder.WithPredicates(kube.OnLife())).
		Watches(&policyv1.PodDisruptionBudget{}, nodes.To(s.nodeOfBudget), builder.WithPredicates(kube.OnDeepChange(budgetFacts))).
		Watches(&v1beta2.Setting{}, nodes.To(s.all), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the controller of disruption budgets: %w", err)
	}
	return nil
}

// emptied keeps those of the nodes that find returns that are being emptied. On the others the budgets stand whatever runs there, and a
// node from which pods are kept later is enqueued then: an attached volume costs no evaluation.
func (s *keeper) emptied(find func(context.Context, client.Object) []string) func(context.Context, client.Object) []string {
	return func(ctx context.Context, o client.Object) []string {
		settings, err := s.settings.Current(ctx)
		if err != nil || settings.ClusterAutoscaler {
			return find(ctx, o)
		}
		return slices.DeleteFunc(find(ctx, o), func(node string) bool {
			cordoned, err := s.cached().cordoned(ctx, node)
			return err == nil && !cordoned
		})
	}
}

// nodesOfVolume are the nodes of all replicas of a replica's volume: one may be protected by the other now, or not any more.
func (s *keeper) nodesOfVolume(ctx context.Context, o client.Object) []string {
	all := s.mapper.NamesBy(ctx, kube.NodeName, &v1beta2.ReplicaList{}, client.MatchingFields{kube.FieldVolume: kube.VolumeName(o)})
	return append(all, v1beta2.NodeNameOf(o))
}

// around are a node, and those with another replica of a volume that has one there: they may count on it, or not any more.
func (s *keeper) around(ctx context.Context, nodes ...string) []string {
	out := nodes
	for _, name := range nodes {
		volumes := s.mapper.NamesBy(ctx, kube.VolumeName, &v1beta2.ReplicaList{}, client.MatchingFields{kube.FieldNode: name})
		for _, volume := range volumes {
			out = append(out, s.mapper.NamesBy(ctx, kube.NodeName, &v1beta2.ReplicaList{}, client.MatchingFields{kube.FieldVolume: volume})...)
		}
	}
	return out
}

func (s *keeper) aroundNode(ctx context.Context, o client.Object) []string {
	return s.around(ctx, o.GetName())
}

func (s *keeper) aroundManager(ctx context.Context, o client.Object) []string {
	return s.around(ctx, v1beta2.NodeNameOf(o))
}

func (s *keeper) aroundBudget(ctx context.Context, o client.Object) []string {
	return s.around(ctx, s.nodeOfBudget(ctx, o)...)
}

// nodeOfBudget is none where its instance manager, which owns it, is gone: Kubernetes deletes it.
func (s *keeper) nodeOfBudget(ctx context.Context, o client.Object) []string {
	m, err := lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, o.GetName(), &v1beta2.InstanceManager{})
	if err != nil || m == nil {
		return nil
	}
	return []string{m.Spec.NodeID}
}

// all are the nodes of every instance manager, after a setting changed.
func (s *keeper) all(ctx context.Context, _ client.Object) []string {
	return s.mapper.NamesBy(ctx, kube.NodeName, &v1beta2.InstanceManagerList{})
}
