// Package disruptioncontroller makes the verdicts of package disruption true: it creates, explains and deletes the PodDisruptionBudget of
// each instance manager, one key per node. One worker: whether a budget may go depends on those of other nodes, so that they go one after
// the other.
package disruptioncontroller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers;replicas,verbs=list;watch,namespace=longhorn-system

const (
	// byNode indexes InstanceManagers and Replicas by spec.nodeID, byVolume Replicas by spec.volumeName, for this package.
	byNode, byVolume = "drover.disruption.node", "drover.disruption.volume"
	// Protects is the annotation of a budget that reports what it protects.
	Protects = "drover.dev/protects"
)

type keeper struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
}

// Setup registers the controller of budgets.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source) error {
	if err := addIndexes(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	s := &keeper{rt: rt, settings: settings}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("disruption").
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(s.aroundNode), builder.WithPredicates(cordonChanged())).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(s.aroundManager), builder.WithPredicates(lifeChanged())).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(enqueue.NodeOf), builder.WithPredicates(enginesChanged())).
		Watches(&v1beta2.Replica{}, handler.EnqueueRequestsFromMapFunc(s.nodesOfVolume), builder.WithPredicates(replicaChanged())).
		Watches(&policyv1.PodDisruptionBudget{}, handler.EnqueueRequestsFromMapFunc(s.aroundBudget),
			builder.WithPredicates(budgetCameOrWent())).
		Watches(&policyv1.PodDisruptionBudget{}, handler.EnqueueRequestsFromMapFunc(s.nodeOfBudget),
			builder.WithPredicates(budgetChanged())).
		Watches(&v1beta2.Setting{}, handler.EnqueueRequestsFromMapFunc(s.all), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the controller of disruption budgets: %w", err)
	}
	return nil
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		of  client.Object
		key string
		is  func(client.Object) string
	}{
		{&v1beta2.InstanceManager{}, byNode, func(o client.Object) string { return o.(*v1beta2.InstanceManager).Spec.NodeID }},
		{&v1beta2.Replica{}, byNode, func(o client.Object) string { return o.(*v1beta2.Replica).Spec.NodeID }},
		{&v1beta2.Replica{}, byVolume, func(o client.Object) string { return o.(*v1beta2.Replica).Spec.VolumeName }},
	} {
		if err := indexer.IndexField(ctx, index.of, index.key,
			func(o client.Object) []string { return []string{index.is(o)} }); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", index.of, index.key, err)
		}
	}
	return nil
}

// nodesOfVolume enqueues the nodes of all replicas of a replica's volume: one may be protected by the other now, or not any more.
func (s *keeper) nodesOfVolume(ctx context.Context, o client.Object) []reconcile.Request {
	r := o.(*v1beta2.Replica)
	out := enqueue.Node(r.Spec.NodeID)
	var others v1beta2.ReplicaList
	if err := s.rt.Client.List(ctx, &others, client.InNamespace(s.rt.Namespace), client.MatchingFields{byVolume: r.Spec.VolumeName},
		client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing the replicas of a volume", "volume", r.Spec.VolumeName)
	}
	for i := range others.Items {
		out = append(out, enqueue.Node(others.Items[i].Spec.NodeID)...)
	}
	return out
}

// around enqueues a node, and those with another replica of a volume that has one there: they may count on it, or not any more.
func (s *keeper) around(ctx context.Context, node string) []reconcile.Request {
	out := enqueue.Node(node)
	var here v1beta2.ReplicaList
	if err := s.rt.Client.List(ctx, &here, client.InNamespace(s.rt.Namespace), client.MatchingFields{byNode: node},
		client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing the replicas of a node", "node", node)
	}
	for i := range here.Items {
		out = append(out, s.nodesOfVolume(ctx, &here.Items[i])...)
	}
	return out
}

func (s *keeper) aroundNode(ctx context.Context, o client.Object) []reconcile.Request {
	return s.around(ctx, o.GetName())
}

func (s *keeper) aroundManager(ctx context.Context, o client.Object) []reconcile.Request {
	return s.around(ctx, o.(*v1beta2.InstanceManager).Spec.NodeID)
}

func (s *keeper) aroundBudget(ctx context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, r := range s.nodeOfBudget(ctx, o) {
		out = append(out, s.around(ctx, r.Name)...)
	}
	return out
}

// nodeOfBudget is none where its instance manager, which owns it, is gone: Kubernetes deletes it.
func (s *keeper) nodeOfBudget(ctx context.Context, o client.Object) []reconcile.Request {
	var m v1beta2.InstanceManager
	if err := s.rt.Client.Get(ctx, client.ObjectKeyFromObject(o), &m); err != nil {
		return nil
	}
	return enqueue.Node(m.Spec.NodeID)
}

// all enqueues every node after a setting changed.
func (s *keeper) all(ctx context.Context, _ client.Object) []reconcile.Request {
	var managers v1beta2.InstanceManagerList
	if err := s.rt.Client.List(ctx, &managers, client.InNamespace(s.rt.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing instance managers after a setting changed")
	}
	var out []reconcile.Request
	for i := range managers.Items {
		out = append(out, enqueue.Node(managers.Items[i].Spec.NodeID)...)
	}
	return out
}
