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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/upgrade/rehearsal"
)

const (
	fieldOwner = "im-monitor"
	// workers mostly wait for the API server; a list begun for a decision may take seconds.
	workers = 8
	// upgradesByNode finds live upgrades by their node.
	upgradesByNode = "upgrade-node"
	// podsByNode finds pods by their node.
	podsByNode = "pod-node"
)

type reconciler struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	store    inventory.Store
	options  instancemanager.Options
	written  kube.Written // InstanceManagers, and pods that were deleted
	memory   memory
	mapper   kube.Mapper
	queue    enqueue.Queue[reconcile.Request] // enqueued by changes of the inventory
}

// Setup registers both controllers. It subscribes to the store, and so is called before that starts.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, store inventory.Store,
	options instancemanager.Options) error {
	s := &reconciler{rt: rt, settings: settings, store: store, options: options, memory: newMemory(),
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe},
		mapper:  kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	if err := rt.AddIndexes(ctx, kube.ByNode(&v1beta2.InstanceManager{}), kube.ByNode(&v1beta2.Replica{}), kube.IndexBy(
		&v1beta2.NodeDataEngineUpgrade{}, upgradesByNode, nodeOfUpgrade), kube.IndexBy(&corev1.Pod{}, podsByNode, nodeOfPod)); err != nil {
		return err
	}
	store.Subscribe(func(change inventory.Change) {
		s.queue.Add(s.mapper.Request(change.InstanceManager))
	})
	if err := s.setupRoster(); err != nil {
		return fmt.Errorf("setting up the instance-manager roster: %w", err)
	}
	if err := s.setupManagers(); err != nil {
		return fmt.Errorf("setting up the instance-manager controller: %w", err)
	}
	return rehearsal.Setup(rt, fieldOwner, rehearsalSource{s})
}

func (s *reconciler) setupRoster() error {
	r := &roster{reconciler: s}
	nodes := kube.Mapper{Reader: s.rt.Client}
	return ctrl.NewControllerManagedBy(s.rt.Manager).Named("instance-manager-roster").
		WithOptions(queue.Options(workers)).
		Watches(&corev1.Node{}, nodes.To(enqueue.Name), builder.WithPredicates(kube.OnDeepChange(node.FromKubernetes))).
		Watches(&v1beta2.Node{}, nodes.To(enqueue.Name), builder.WithPredicates(kube.OnChange(nodeFacts))).
		Watches(&v1beta2.InstanceManager{}, nodes.To(enqueue.Node), builder.WithPredicates(kube.OnEnd())).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, nodes.To(ofUpgrade), builder.WithPredicates(kube.OnChange(upgradeFacts))).
		Watches(&v1beta2.Setting{}, nodes.To(s.allNodes), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(r)
}

func (s *reconciler) setupManagers() error {
	return ctrl.NewControllerManagedBy(s.rt.Manager).Named("instance-manager").
		WithOptions(queue.Options(workers)).
		For(&v1beta2.InstanceManager{}).
		Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(kube.OnDeepChange(podStatus))).
		// A v2 pod or CR that ends unblocks its siblings.
		Watches(&corev1.Pod{}, s.mapper.To(s.siblingsOfPod), builder.WithPredicates(kube.NotCreated(),
			kube.OnChange(instancemanager.PodEnded))).
		// A v1 CR that is not wanted any more stays until that of the wanted image runs.
		Watches(&v1beta2.InstanceManager{}, s.mapper.To(s.siblings), builder.WithPredicates(kube.NotCreated(), kube.OnChange(isRunning))).
		Watches(&corev1.Node{}, s.mapper.To(s.managersOfNode), builder.WithPredicates(kube.OnDeepChange(node.FromKubernetes))).
		Watches(&v1beta2.Node{}, s.mapper.To(s.managersOfNode), builder.WithPredicates(kube.OnChange(nodeFacts))).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, s.mapper.To(s.managersOfUpgrade), builder.WithPredicates(kube.OnChange(upgradeFacts))).
		Watches(&v1beta2.Setting{}, s.mapper.To(s.allManagers), builder.WithPredicates(settingcontroller.Concerns())).
		WatchesRawSource(source.Func(s.queue.Start)).
		Complete(s)
}
