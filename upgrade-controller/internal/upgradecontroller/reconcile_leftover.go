package upgradecontroller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/shared/upgrade/preflight"
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
	for _, volume := range v.Clear {
		// No event of such a volume enqueues the node again, so that one that is gone must not end the pass.
		if err := client.IgnoreNotFound(setTarget(ctx, r.client, volume, "")); err != nil {
			return err
		}
	}
	if len(v.Clear) > 0 {
		r.report(ctx, node, fmt.Sprintf("It is cordoned for an upgrade that does not exist any more: spec.targetNodeID is cleared of %d "+
			"volume(s) that were moved or detached since: %s.", len(v.Clear), volumeNames(v.Clear)))
	}
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

func volumeNames(volumes []*v1beta2.Volume) string {
	names := make([]string, 0, len(volumes))
	for _, v := range volumes {
		names = append(names, v.Name)
	}
	return preflight.Names(names)
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

// leftover reads the world of one node. The node and the volumes are read first: an upgrade stores that it has begun before it cordons its
// node, and lists a volume before it requests another target.
func (o observer) leftover(ctx context.Context, name string, fresh bool) (leftover.World, error) {
	w := leftover.World{Node: name, Fresh: fresh}
	u := &v1beta2.NodeDataEngineUpgrade{}
	u.Spec.NodeID = name
	var err error
	if w.Cluster, err = o.around(ctx, u, fresh); err != nil {
		return w, err
	}
	if w.Requested, err = o.requested(ctx, fresh); err != nil {
		return w, err
	}
	w.Upgrades, err = o.upgrades(ctx, o.reader(fresh))
	return w, err
}

// requested are the volumes with a spec.targetNodeID: in the cache an index finds them.
func (o observer) requested(ctx context.Context, fresh bool) ([]*v1beta2.Volume, error) {
	var found v1beta2.VolumeList
	var options []client.ListOption
	if !fresh {
		options = append(options, client.MatchingFields{byRequest: kube.Yes})
	}
	if err := lookup.ListShared(ctx, o.reader(fresh), o.namespace, &found, options...); err != nil {
		return nil, err
	}
	all := cluster.Pointers(found.Items, func(v *v1beta2.Volume) string { return v.Name })
	return slices.DeleteFunc(all, func(v *v1beta2.Volume) bool { return v.Spec.TargetNodeID == "" }), nil
}
