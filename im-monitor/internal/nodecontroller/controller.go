// Package nodecontroller makes the verdicts of package node true: it creates Longhorn Nodes for Kubernetes nodes, keeps
// their conditions, region and zone, and lets deleted ones go.
package nodecontroller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=list;watch;create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers,verbs=list;watch,namespace=longhorn-system

const (
	fieldOwner = "im-monitor"
	workers    = 4
	// conflictPause is the wait for a cache that is behind.
	conflictPause = 100 * time.Millisecond
	// byNode indexes InstanceManagers by spec.nodeID for this controller.
	byNode = "drover.node.instanceManagers"
)

type reconciler struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	written  kube.Written
}

// Setup registers the controller of Nodes.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source) error {
	s := &reconciler{rt: rt, settings: settings, written: kube.Written{Clock: rt.Clock}}
	err := rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.InstanceManager{}, byNode, func(o client.Object) []string {
		return []string{o.(*v1beta2.InstanceManager).Spec.NodeID}
	})
	if err != nil {
		return fmt.Errorf("indexing instance managers by node: %w", err)
	}
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("node").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(enqueue.ByName), builder.WithPredicates(kubernetesChanged())).
		Watches(&v1beta2.Node{}, handler.EnqueueRequestsFromMapFunc(enqueue.ByName), builder.WithPredicates(nodeChanged())).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(enqueue.NodeOf), builder.WithPredicates(managerChanged())).
		Watches(&v1beta2.Setting{}, handler.EnqueueRequestsFromMapFunc(s.all), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the node controller: %w", err)
	}
	return nil
}

// all enqueues every node after a setting changed.
func (s *reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	var out []reconcile.Request
	var kubernetes corev1.NodeList
	var nodes v1beta2.NodeList
	if err := s.rt.Client.List(ctx, &kubernetes, client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing Kubernetes nodes after a setting changed")
	}
	if err := s.rt.Client.List(ctx, &nodes, client.InNamespace(s.rt.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing nodes after a setting changed")
	}
	for i := range kubernetes.Items {
		out = append(out, enqueue.Node(kubernetes.Items[i].Name)...)
	}
	for i := range nodes.Items {
		out = append(out, enqueue.Node(nodes.Items[i].Name)...)
	}
	return out
}
