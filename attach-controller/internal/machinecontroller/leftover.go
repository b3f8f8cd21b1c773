package machinecontroller

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// withoutVolume ends what is being deleted of a volume that does not exist, and deletes nothing itself. A volume can go before its objects:
// its finalizer was removed by hand, or arrived while the API server deleted it, which decides on the object as it read it before.
func (r *reconciler) withoutVolume(ctx context.Context, name string) (ctrl.Result, error) {
	r.debounce.forget(name)
	r.starts.forget(name)
	all, err := r.observer.ofVolume(ctx, name, kube.FieldVolume)
	if err != nil {
		return ctrl.Result{}, err
	}
	w := &machine.World{Now: r.clock.Now(), Nodes: map[string]machine.Node{}, Previous: all.list()}
	if !slices.ContainsFunc(w.Previous, isDeleted) {
		return ctrl.Result{}, nil
	}
	if slices.ContainsFunc(w.Previous, func(o metav1.Object) bool { return r.written.Stale(o.(client.Object)) }) {
		return ctrl.Result{RequeueAfter: cachePause}, nil
	}
	if found, err := past(r.observer).get(ctx, name, &v1beta2.Volume{}); err != nil || found {
		return ctrl.Result{}, err // the event of one that exists is about to arrive
	}
	if err := r.observer.nodes(ctx, w); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.observer.listed(ctx, w); err != nil {
		return ctrl.Result{}, err
	}
	return afterError(r.writeAll(ctx, nil, machine.DecideWithoutVolume(*w).Writes))
}

func isDeleted(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil }

// list are the objects of all kinds.
func (o *objects) list() (out []metav1.Object) {
	for i := range o.engines.Items {
		out = append(out, &o.engines.Items[i])
	}
	for i := range o.frontends.Items {
		out = append(out, &o.frontends.Items[i])
	}
	for i := range o.replicas.Items {
		out = append(out, &o.replicas.Items[i])
	}
	return out
}
