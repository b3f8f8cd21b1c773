package upgradecontroller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/upgrade-controller/internal/leftover"
)

// leftoverReconciler uncordons nodes that are cordoned for an upgrade that does not exist any more, once their targets are switched back.
type leftoverReconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
}

// Reconcile implements reconcile.Reconciler. Its key is a node.
func (r *leftoverReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if left, err := r.observer.mayBeLeft(ctx, request.Name); !left || err != nil {
		return ctrl.Result{}, err
	}
	world, err := r.observer.leftover(ctx, request.Name, false)
	if err != nil {
		return ctrl.Result{}, err
	}
	verdict := leftover.Decide(world)
	if verdict.Confirm {
		if world, err = r.observer.leftover(ctx, request.Name, true); err != nil {
			return ctrl.Result{}, err
		}
		verdict = leftover.Decide(world)
	}
	return ctrl.Result{}, client.IgnoreNotFound(r.apply(ctx, world, verdict))
}

// apply writes to the versions that were evaluated, so that what a beginning upgrade or a person does meanwhile is evaluated again.
func (r *leftoverReconciler) apply(ctx context.Context, w leftover.World, v leftover.Verdict) error {
	node := w.Cluster.Nodes[w.Node].Object
	for _, volume := range v.SwitchBack {
		if err := setTarget(ctx, r.client, volume.Object, ""); err != nil {
			return err
		}
	}
	switch {
	case len(v.SwitchBack) > 0:
		r.report(ctx, node, fmt.Sprintf("It is cordoned for an upgrade that does not exist any more: %d target(s) are being switched back.",
			len(v.SwitchBack)))
	case v.Uncordon:
		if err := uncordonNode(ctx, r.client, node, status.AtVersion()); err != nil {
			return err
		}
		r.report(ctx, node, "It was cordoned for an upgrade that does not exist any more, and is uncordoned now.")
	}
	return nil
}

func (r *leftoverReconciler) report(ctx context.Context, node *v1beta2.Node, note string) {
	events.Emit(r.recorder, node, events.Event{Type: corev1.EventTypeWarning, Reason: "UpgradeVanished", Action: actionUpgrade, Note: note})
	log.FromContext(ctx).Info("left by an upgrade", "node", node.Name, "message", note)
}

// mayBeLeft reports whether, by the cache, a node is cordoned and has no upgrade. While a node has an upgrade, every event of its volumes
// is enqueued here, and none needs uncached reads.
func (o observer) mayBeLeft(ctx context.Context, name string) (bool, error) {
	node, err := lookup.Shared(ctx, o.cached, o.namespace, name, &v1beta2.Node{})
	if node == nil || err != nil || !node.Spec.UpgradeRequested {
		return false, err
	}
	upgrades, err := o.upgrades(ctx, o.cached)
	return !leftover.Upgraded(name, upgrades), err
}

// leftover reads the world of one node. The node is read first: an upgrade stores that it has begun before it cordons its node.
func (o observer) leftover(ctx context.Context, name string, fresh bool) (leftover.World, error) {
	w := leftover.World{Node: name, Fresh: fresh}
	u := &v1beta2.NodeDataEngineUpgrade{}
	u.Spec.NodeID = name
	var err error
	if w.Cluster, err = o.around(ctx, u, fresh); err != nil {
		return w, err
	}
	w.Upgrades, err = o.upgrades(ctx, o.reader(fresh))
	return w, err
}
