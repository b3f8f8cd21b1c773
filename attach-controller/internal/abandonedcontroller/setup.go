// Package abandonedcontroller is the reconciler of package abandoned: it returns what instance managers still list to the controllers that
// release objects, writes their records into Node.status.abandonedInstances, and removes each record once its instance is proven to be
// gone.
package abandonedcontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;instancemanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system

// Setup registers the controller that ends records, and what Reader needs.
func Setup(ctx context.Context, rt *runkit.Runtime) error {
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	r := &reconciler{reader: Reader{Client: rt.Client, Namespace: rt.Namespace}, client: rt.Client}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("abandoned").WithOptions(queue.Options(1)).
		For(&v1beta2.Node{}, builder.WithPredicates(kube.If(hasRecords))).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(r.nodeOf)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of abandoned instances: %w", err)
	}
	return nil
}

func hasRecords(n *v1beta2.Node) bool { return len(n.Status.AbandonedInstances) > 0 }

type reconciler struct {
	reader Reader
	client client.Client
}

// nodeOf is the instance manager's node, if that has records.
func (r *reconciler) nodeOf(ctx context.Context, obj client.Object) []reconcile.Request {
	m, ok := obj.(*v1beta2.InstanceManager)
	if !ok {
		return nil
	}
	n, err := r.reader.node(ctx, m.Spec.NodeID)
	if err != nil {
		// A read from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "reading from the cache")
	}
	if n == nil || !hasRecords(n) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(n)}}
}

// Reconcile removes the obsolete records of one node.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	n, err := r.reader.node(ctx, request.Name)
	if n == nil || err != nil {
		return ctrl.Result{}, err
	}
	managers, err := r.reader.managers(ctx, kube.FieldNode, n.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	over := abandoned.Over(n, managers)
	if len(over) == 0 {
		return ctrl.Result{}, nil
	}
	log.FromContext(ctx).Info("abandoned instances have ended", "node", n.Name, "instances", over)
	return ctrl.Result{}, remove(ctx, r.client, n, over)
}
