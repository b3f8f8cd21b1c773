package replicacontroller

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/status"
)

type reconciler struct {
	observer observer
	client   client.Client
	uncached client.Reader
	recorder kevents.EventRecorder
	clock    clock.PassiveClock
	waiting  *waitlist
	// lacking returns the volumes that may use room which became free on a node.
	lacking  func(ctx context.Context, node string) []string
	enqueued chan event.GenericEvent
	newID    func() string

	// placing serialises the choice of disks: all volumes share them.
	placing sync.Mutex

	mu sync.Mutex
	// made are the replicas of a volume that this process created and the cache has not shown yet.
	made map[string][]string

	written kube.Written
}

// Reconcile does one step of the replicas of one volume.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, err := r.observer.observe(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if stale, err := r.stale(ctx, request.Name, slices.Concat(world.Replicas, world.Second, world.Previous)); stale || err != nil {
		return ctrl.Result{RequeueAfter: kube.CachePause}, err
	}
	if r.behind(world) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	if world.Volume == nil && len(world.Replicas) == 0 {
		r.wait(ctx, request.Name, nil)
		return ctrl.Result{}, nil
	}
	if unsure, err := r.unsure(ctx, world); unsure || err != nil {
		return ctrl.Result{RequeueAfter: kube.CachePause}, err
	}
	r.settle(ctx, world)
	r.releaseWaiting(ctx, world)
	verdict, err := r.decideAndPlace(ctx, &world)
	if err == nil {
		err = r.apply(ctx, world, verdict)
	}
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	if err != nil || verdict.RequeueAt.IsZero() {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: kube.Until(verdict.RequeueAt, r.clock.Now())}, nil
}

// behind reports whether the cache does not show yet what this process wrote to the volume and its replicas: a second pass on that would
// cancel the reservation of a rebuild that began, or count a replica that goes among those that stay.
func (r *reconciler) behind(w replica.World) bool {
	return w.Volume != nil && r.written.Stale(w.Volume) ||
		slices.ContainsFunc(w.Replicas, func(one *v1beta2.Replica) bool { return r.written.Stale(one) })
}

// decideAndPlace decides, and creates what the verdict places before another volume may choose.
func (r *reconciler) decideAndPlace(ctx context.Context, w *replica.World) (replica.Verdict, error) {
	if !replica.Needs(*w) {
		return replica.Decide(*w), nil
	}
	r.placing.Lock()
	defer r.placing.Unlock()
	if err := r.observer.candidates(ctx, w); err != nil {
		return replica.Verdict{}, err
	}
	verdict := replica.Decide(*w)
	if verdict.AcceptedSize > 0 {
		r.observer.reservations.promise(w.Replicas, verdict.AcceptedSize)
	}
	for _, p := range verdict.Patches {
		if _, back := p.Spec["failedAt"]; back {
			r.observer.reservations.reserve(p.Replica)
		}
	}
	if err := r.create(ctx, w.Volume, verdict); err != nil {
		r.unreserve(ctx, verdict.Patches)
		return verdict, err
	}
	return verdict, nil
}

// unsure reports whether the cache lacks the volume of a replica, but the API server has it: nothing is destroyed because of a stale
// cache.
func (r *reconciler) unsure(ctx context.Context, w replica.World) (bool, error) {
	if w.Volume != nil {
		return false, nil
	}
	err := r.uncached.Get(ctx, client.ObjectKey{Namespace: r.observer.namespace, Name: nameOf(w)}, &v1beta2.Volume{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return true, err
}

// settle frees the reservations of rebuilds that do not begin now: the volume was detached before.
func (r *reconciler) settle(ctx context.Context, w replica.World) {
	if w.Volume != nil && w.Volume.Status.State == v1beta2.VolumeStateAttached {
		return
	}
	for _, one := range w.Replicas {
		r.cancel(ctx, one)
	}
}

// releaseWaiting frees the slots of rebuilds that wait at their engine, and takes slots for rebuilds that continue.
func (r *reconciler) releaseWaiting(ctx context.Context, w replica.World) {
	for _, one := range w.Replicas {
		if r.observer.reservations.wait(one.Name, replica.Waits(w, one)) {
			r.enqueue(ctx, r.waiting.first(one.Spec.NodeID))
		}
	}
}

// unreserve frees the reservations of patches that are not written.
func (r *reconciler) unreserve(ctx context.Context, patches []replica.Patch) {
	for _, p := range patches {
		r.cancel(ctx, p.Replica)
	}
}

func (r *reconciler) cancel(ctx context.Context, one *v1beta2.Replica) {
	if r.observer.reservations.cancel(one.Name) {
		r.enqueue(ctx, r.waiting.first(one.Spec.NodeID))
		for _, volume := range r.lacking(ctx, one.Spec.NodeID) {
			r.enqueue(ctx, volume)
		}
	}
}

// stale reports whether the cache lacks a replica that this process created. A deleted one is forgotten.
func (r *reconciler) stale(ctx context.Context, volume string, seen []*v1beta2.Replica) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []string
	for _, name := range r.made[volume] {
		if slices.ContainsFunc(seen, func(one *v1beta2.Replica) bool { return one.Name == name }) {
			continue
		}
		err := r.uncached.Get(ctx, client.ObjectKey{Namespace: r.observer.namespace, Name: name}, &v1beta2.Replica{})
		if apierrors.IsNotFound(err) {
			r.enqueue(ctx, r.waiting.first(r.observer.reservations.forget(name)))
			continue
		}
		if err != nil {
			return true, err
		}
		missing = append(missing, name)
	}
	if len(missing) == 0 {
		delete(r.made, volume)
		return false, nil
	}
	r.made[volume] = missing
	return true, nil
}

// wait puts a volume into the waitlists of the nodes; the next volume in the waitlist that it leaves is enqueued.
func (r *reconciler) wait(ctx context.Context, volume string, nodes []string) {
	for _, next := range r.waiting.set(volume, nodes) {
		r.enqueue(ctx, next)
	}
}

func (r *reconciler) enqueue(ctx context.Context, volume string) {
	if volume == "" {
		return
	}
	select {
	case r.enqueued <- event.GenericEvent{Object: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: r.observer.namespace,
		Name: volume}}}:
	case <-ctx.Done():
	}
}

func (r *reconciler) remember(volume, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made[volume] = append(r.made[volume], name)
}
