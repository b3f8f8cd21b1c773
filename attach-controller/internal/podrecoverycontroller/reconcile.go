// Package podrecoverycontroller applies the verdicts of package podrecovery, one key per pod with claims: it deletes pods whose volume was
// detached under them, and frees the volumes of pods on down nodes. Every deletion is confirmed by an uncached read right before.
package podrecoverycontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// workers is how many pods are evaluated at once.
const workers = 4

type reconciler struct {
	rt           *runkit.Runtime
	cached, live observer
	memory       *memory
}

// Setup registers the controller of pods that lost their volume.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	cached := observer{cache: rt.Client, reader: rt.Client, namespace: rt.Namespace, settings: settings, clock: rt.Clock,
		memory: newMemory()}
	live := cached
	live.reader, live.live = rt.Uncached, true
	r := &reconciler{rt: rt, cached: cached, live: live, memory: cached.memory}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("pod-recovery").WithOptions(queue.Options(workers))
	w := watches{mapper: kube.Mapper{Reader: rt.Client}, namespace: rt.Namespace}
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of pods that lost their volume: %w", err)
	}
	reporter := &reporter{client: rt.Client, observer: cached, clock: rt.Clock, written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}}
	return reporter.setUp(rt.Manager, w)
}

// Reconcile decides on one pod. A decision on the cache is repeated on uncached reads.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := r.cached.observe(ctx, request.NamespacedName)
	if s == nil || err != nil {
		return ctrl.Result{}, err
	}
	v := podrecovery.Decide(s.facts)
	if v.Action != podrecovery.ActionNone {
		if s, err = r.live.observe(ctx, request.NamespacedName); s == nil || err != nil {
			return ctrl.Result{}, err
		}
		if v = podrecovery.Decide(s.facts); v.Action != podrecovery.ActionNone {
			if err := r.apply(ctx, s, v); err != nil {
				return ctrl.Result{}, err
			}
		}
	}
	if v.At.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(v.At.Sub(r.rt.Clock.Now()), 1)}, nil
}

// apply deletes, each object by the UID that was evaluated, and emits each deletion once it succeeded. A failed deletion delays no other.
func (r *reconciler) apply(ctx context.Context, s *seen, v podrecovery.Verdict) error {
	var failed []error
	for _, d := range deletions(s, v) {
		deleted, err := r.delete(ctx, d)
		if err != nil {
			failed = append(failed, err)
		}
		if !deleted {
			continue
		}
		if v.Action == podrecovery.ActionDelete {
			r.remember(ctx, s)
		}
		actions.WithLabelValues(string(v.Action)).Inc()
		r.emit(d, d.event)
		log.FromContext(ctx).Info("pod recovered", "action", v.Action, "deleted", d.object.GetName(), "why", d.event.Note)
	}
	return errors.Join(failed...)
}

// remember records, for the volumes of a deleted pod, the time of its deletion: pods that are created later have newer mounts.
func (r *reconciler) remember(ctx context.Context, s *seen) {
	// If the pod is gone already, or cannot be read, only its creation time is known to precede the deletion.
	at := s.pod.CreationTimestamp.Add(time.Second)
	pod, err := lookup.Get(ctx, r.rt.Uncached, s.pod.Namespace, s.pod.Name, &corev1.Pod{})
	if err == nil && pod != nil && pod.UID == s.pod.UID && pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil {
		at = pod.DeletionTimestamp.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	}
	for _, v := range s.facts.Volumes {
		if !v.RemountRequestedAt.IsZero() {
			r.memory.remember(v.Name, v.RemountRequestedAt, at)
		}
	}
}

// delete reports whether the object is being deleted now; one that is gone, or was replaced, is not.
func (r *reconciler) delete(ctx context.Context, d deletion) (bool, error) {
	uid := d.object.GetUID()
	err := r.rt.Client.Delete(ctx, d.object, append(d.options, client.Preconditions{UID: &uid})...)
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return false, nil // its event is on the way
	}
	if _, ok := d.object.(*storagev1.VolumeAttachment); ok && (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) {
		r.emit(d, refused(d.object.GetName(), err))
	}
	return false, fmt.Errorf("deleting %T %s: %w", d.object, client.ObjectKeyFromObject(d.object), err)
}
