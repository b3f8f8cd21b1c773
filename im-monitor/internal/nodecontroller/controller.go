// Package nodecontroller makes the verdicts of package node true: it creates Longhorn Nodes for Kubernetes nodes, keeps
// their conditions, region and zone, and lets deleted ones go.
package nodecontroller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=list;watch;create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers,verbs=list;watch,namespace=longhorn-system

const (
	fieldOwner = "im-monitor"
	workers    = 4
)

type reconciler struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	written  kube.Written
}

// Setup registers the controller of Nodes.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source) error {
	s := &reconciler{rt: rt, settings: settings, written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}}
	if err := rt.AddIndexes(ctx, kube.ByNode(&v1beta2.InstanceManager{})); err != nil {
		return err
	}
	nodes := kube.Mapper{Reader: rt.Client}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("node").
		WithOptions(queue.Options(workers)).
		Watches(&corev1.Node{}, nodes.To(enqueue.Name), builder.WithPredicates(kube.OnDeepChange(node.FromKubernetes))).
		Watches(&v1beta2.Node{}, nodes.To(enqueue.Name), builder.WithPredicates(kube.OnDeepChange(nodeFacts))).
		Watches(&v1beta2.InstanceManager{}, nodes.To(enqueue.Node), builder.WithPredicates(kube.OnChange(node.FromInstanceManager))).
		Watches(&v1beta2.Setting{}, nodes.To(s.all), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the node controller: %w", err)
	}
	return nil
}

// all are the nodes of both kinds, after a setting changed.
func (s *reconciler) all(ctx context.Context, _ client.Object) []string {
	objects := kube.Mapper{Reader: s.rt.Client, Namespace: s.rt.Namespace}
	return append(kube.Mapper{Reader: s.rt.Client}.Names(ctx, &corev1.NodeList{}), objects.Names(ctx, &v1beta2.NodeList{})...)
}
