package machinecontroller

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

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
	w := &machine.World{Now: r.clock.Now(), Nodes: map[string]machine.Node{}, Previous: all}
	if !slices.ContainsFunc(all.All(), func(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil }) {
		return ctrl.Result{}, nil
	}
	if r.anyBehind(all) {
		return ctrl.Result{RequeueAfter: cachePause}, nil
	}
	found, err := past(r.observer).get(ctx, name, &v1beta2.Volume{})
	if err != nil {
		return ctrl.Result{}, err
	}
	if found {
		return ctrl.Result{RequeueAfter: unseenPause}, nil
	}
	if err := r.observer.nodes(ctx, w); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.observer.listed(ctx, w); err != nil {
		return ctrl.Result{}, err
	}
	writes := machine.DecideWithoutVolume(*w).Writes
	for _, one := range writes {
		log.FromContext(ctx).Info("ending what is being deleted of a volume that does not exist", "object", one.Object.GetName(),
			"kind", fmt.Sprintf("%T", one.Object), "write", one.Kind)
	}
	return afterError(r.writeAll(ctx, nil, writes))
}

// unseenPause is when to evaluate again if the cache does not show a Volume that exists: it may be gone before an event of it arrives.
const unseenPause = time.Second
