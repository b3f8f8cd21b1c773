// Package instancemanagercontroller makes the verdicts of package instancemanager true. It has two controllers:
//
//   - the roster, one key per node: makes the InstanceManagers that a node must have;
//   - the instance managers, one key each: makes, replaces and ends the pod, sets the inventory's target, keeps
//     the status, and removes InstanceManagers that are not wanted any more once nothing runs on them.
//
// It is the only one that creates or deletes InstanceManagers and their pods. Its memory (failures of pods, since when
// an inventory is unknown) may be lost.
package instancemanagercontroller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

const (
	fieldOwner = "im-monitor"
	// workers mostly wait for the API server; a list begun for a decision may take seconds.
	workers = 8
	// byNode indexes InstanceManagers by spec.nodeID for this package.
	byNode = "drover.instanceManager.node"
)

type reconciler struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	store    inventory.Store
	options  instancemanager.Options
	written  kube.Written // InstanceManagers, and pods that were deleted
	memory   memory
	queue    enqueue.Queue[reconcile.Request] // enqueued by changes of the inventory
}

// Setup registers both controllers. It subscribes to the store, and so is called before that starts.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, store inventory.Store,
	options instancemanager.Options) error {
	s := &reconciler{rt: rt, settings: settings, store: store, options: options, written: kube.Written{Clock: rt.Clock}}
	err := rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.InstanceManager{}, byNode, func(o client.Object) []string {
		return []string{o.(*v1beta2.InstanceManager).Spec.NodeID}
	})
	if err != nil {
		return fmt.Errorf("indexing instance managers by node: %w", err)
	}
	if err := addUpgradeIndex(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return fmt.Errorf("indexing live upgrades by node: %w", err)
	}
	store.Subscribe(func(change inventory.Change) {
		s.queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: rt.Namespace, Name: change.InstanceManager}})
	})
	if err := s.setupRoster(); err != nil {
		return fmt.Errorf("setting up the instance-manager roster: %w", err)
	}
	if err := s.setupManagers(); err != nil {
		return fmt.Errorf("setting up the instance-manager controller: %w", err)
	}
	return nil
}

func (s *reconciler) setupRoster() error {
	r := &roster{reconciler: s}
	return ctrl.NewControllerManagedBy(s.rt.Manager).Named("instance-manager-roster").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(enqueue.ByName), builder.WithPredicates(kubernetesChanged())).
		Watches(&v1beta2.Node{}, handler.EnqueueRequestsFromMapFunc(enqueue.ByName), builder.WithPredicates(lifeChanged())).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(enqueue.NodeOf), builder.WithPredicates(deletions())).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, handler.EnqueueRequestsFromMapFunc(nodeOfUpgrade),
			builder.WithPredicates(upgradeChanged())).
		Watches(&v1beta2.Setting{}, handler.EnqueueRequestsFromMapFunc(s.allNodes), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(r)
}

func (s *reconciler) setupManagers() error {
	return ctrl.NewControllerManagedBy(s.rt.Manager).Named("instance-manager").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		For(&v1beta2.InstanceManager{}).
		Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(podChanged())).
		// A v2 pod or CR that ends unblocks its siblings.
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(s.siblingsOfPod), builder.WithPredicates(deletions())).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(s.siblings), builder.WithPredicates(deletions())).
		// A v1 one that is not wanted any more stays until that of the wanted image runs.
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(s.siblings), builder.WithPredicates(runsChanged())).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(s.managersOfKubernetesNode),
			builder.WithPredicates(kubernetesChanged())).
		Watches(&v1beta2.Node{}, handler.EnqueueRequestsFromMapFunc(s.managersOfNode), builder.WithPredicates(lifeChanged())).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, handler.EnqueueRequestsFromMapFunc(s.managersOfUpgrade),
			builder.WithPredicates(upgradeChanged())).
		Watches(&v1beta2.Setting{}, handler.EnqueueRequestsFromMapFunc(s.allManagers),
			builder.WithPredicates(settingcontroller.Concerns())).
		WatchesRawSource(source.Func(s.queue.Start)).
		Complete(s)
}
