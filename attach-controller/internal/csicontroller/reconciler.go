package csicontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

// reconciler decides on one VolumeAttachment and does the verdict's writes.
type reconciler struct {
	rt       *runkit.Runtime
	observer observer
	election *election.Election
	metrics  *metrics
	written  kube.Written
}

// Reconcile implements reconcile.Reconciler. Without a term the request is dropped: each begins with all.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ctx, done, leads := r.election.Enter(ctx)
	if !leads {
		return ctrl.Result{RequeueAfter: r.election.Resumes()}, nil
	}
	defer done()
	s, err := r.observer.observe(ctx, request.Name, false)
	if s == nil || err != nil {
		return ctrl.Result{}, err
	}
	if r.behind(s) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	verdict := csi.Decide(s.world)
	if verdict.Confirm {
		if s, err = r.observer.observe(ctx, request.Name, true); s == nil || err != nil {
			return ctrl.Result{}, err
		}
		verdict = csi.Decide(s.world)
	}
	if len(verdict.Steps) == 0 {
		return ctrl.Result{}, nil
	}
	return r.act(ctx, s, verdict)
}

// act writes, and then emits what was written.
func (r *reconciler) act(ctx context.Context, s *seen, verdict csi.Verdict) (ctrl.Result, error) {
	if err := r.apply(ctx, s, verdict); err != nil {
		if status.IsConflict(err) {
			return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(err) // a deletion brings an event
	}
	if s.volume != nil {
		events.Emit(r.rt.Recorder, s.volume, eventsOf(s.world, verdict)...)
	}
	r.metrics.record(verdict)
	log.FromContext(ctx).Info("verdict applied", "name", s.attachment.Name, "node", s.world.Attachment.HostName,
		"persistentVolume", s.world.Attachment.PersistentVolume, "reason", verdict.Outcome, "steps", kinds(verdict))
	return ctrl.Result{}, nil
}

func kinds(v csi.Verdict) []csi.StepKind {
	out := make([]csi.StepKind, 0, len(v.Steps))
	for _, s := range v.Steps {
		out = append(out, s.Kind)
	}
	return out
}

// releaser drops the finalizer of PersistentVolumes.
type releaser struct{ *reconciler }

// Reconcile implements reconcile.Reconciler for one PersistentVolume.
func (r *releaser) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ctx, done, leads := r.election.Enter(ctx)
	if !leads {
		return ctrl.Result{RequeueAfter: r.election.Resumes()}, nil
	}
	defer done()
	pv, err := lookup.Get(ctx, r.rt.Client, "", request.Name, &corev1.PersistentVolume{})
	if pv == nil || err != nil || pv.DeletionTimestamp == nil {
		return ctrl.Result{}, err
	}
	var list storagev1.VolumeAttachmentList
	if err := lookup.ListShared(ctx, r.rt.Client, "", &list, client.MatchingFields{byPersistentVolume: pv.Name}); err != nil {
		return ctrl.Result{}, err
	}
	if !csi.DecidePersistentVolume(csi.FromPersistentVolume(pv), len(list.Items)) || r.written.Stale(pv) {
		return ctrl.Result{}, nil
	}
	if err := client.IgnoreNotFound(status.DropFinalizer(ctx, r.rt.Client, pv, csi.Finalizer)); err != nil {
		if status.IsConflict(err) {
			return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
		}
		return ctrl.Result{}, err
	}
	r.written.Record(pv)
	log.FromContext(ctx).Info("PersistentVolume released", "name", pv.Name)
	return ctrl.Result{}, nil
}

// behind reports whether the cache was behind for one of the objects of the world.
func (r *reconciler) behind(s *seen) bool {
	return r.written.Stale(s.attachment) || s.persistentVolume != nil && r.written.Stale(s.persistentVolume) || s.tickets != nil &&
		r.written.Stale(s.tickets)
}
