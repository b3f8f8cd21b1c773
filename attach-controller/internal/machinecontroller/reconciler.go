package machinecontroller

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/status"
)

type reconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	clock    clock.PassiveClock
	debounce debouncer
	starts   starts
	written  kube.Written
}

// Reconcile does one step of one volume.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, err := r.observer.observe(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if world == nil {
		return r.withoutVolume(ctx, request.Name)
	}
	if r.behind(world) {
		return ctrl.Result{RequeueAfter: cachePause}, nil
	}
	r.starts.note(world)
	verdict, err := machine.DecideFresh(world, func(wants machine.Reads) error { return r.observer.refresh(ctx, world, wants) })
	if err != nil {
		return ctrl.Result{}, err
	}
	if verdict.LetsGo(world.Volume) {
		if err := r.observer.left(ctx, world); err != nil {
			return ctrl.Result{}, err
		}
		verdict = machine.Decide(*world)
	}
	left := r.debounce.left(world.Volume, verdict, r.clock.Now())
	if err := r.apply(ctx, world.Volume, verdict, left > 0); err != nil {
		return afterError(err)
	}
	if len(verdict.Status) > 0 {
		log.FromContext(ctx).Info("volume moved", "state", verdict.Status["state"], "node", verdict.Status["currentNodeID"], "robustness",
			verdict.Status["robustness"])
	}
	return ctrl.Result{RequeueAfter: next(left, verdict.RequeueAt, r.clock.Now())}, nil
}

// afterError is when to evaluate again what could not be written.
func afterError(err error) (ctrl.Result, error) {
	if status.IsConflict(err) {
		// Another writer was faster; the event of its write may have arrived already.
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	return ctrl.Result{}, err
}

// behind reports whether the cache does not show yet what this process wrote to the volume and its objects: events of different kinds come
// in any order, and what rests on one object must not be written to another one by what that was before.
func (r *reconciler) behind(w *machine.World) bool {
	return r.written.Stale(w.Volume) || r.anyBehind(w.Objects)
}

func (r *reconciler) anyBehind(o machine.Objects) bool {
	return slices.ContainsFunc(o.Engines, stale[*v1beta2.Engine](&r.written)) ||
		slices.ContainsFunc(o.Frontends, stale[*v1beta2.EngineFrontend](&r.written)) ||
		slices.ContainsFunc(o.Replicas, stale[*v1beta2.Replica](&r.written))
}

func stale[T client.Object](w *kube.Written) func(T) bool {
	return func(o T) bool { return w.Stale(o) }
}

// next is when to evaluate again: when a wait has lasted, or when time alone changes the verdict; zero means never.
func next(left time.Duration, requeueAt, now time.Time) time.Duration {
	if requeueAt.IsZero() {
		return left
	}
	until := kube.Until(requeueAt, now)
	if left > 0 {
		return min(left, until)
	}
	return until
}

// cachePause gives the cache time to show this controller's own write, after which the next step follows at once.
const cachePause = 5 * time.Millisecond

// emit emits the events of the volume.
func (r *reconciler) emit(v *v1beta2.Volume, list []machine.Event) {
	for _, h := range list {
		kind := corev1.EventTypeNormal
		if h.Warning {
			kind = corev1.EventTypeWarning
		}
		events.Emit(r.recorder, v, events.Event{Type: kind, Reason: h.Reason, Action: "MoveVolume", Note: h.Note})
		volumeEvents.WithLabelValues(h.Reason).Inc()
	}
}
