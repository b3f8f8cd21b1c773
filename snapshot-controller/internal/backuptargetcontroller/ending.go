package backuptargetcontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
	"drover.dev/drover/snapshot-controller/internal/uninstall"
)

// ending ends BackupVolumes that are being deleted.
type ending struct {
	*reconciler
	removals *backupstores.Removals
}

// Reconcile implements reconcile.Reconciler.
func (e *ending) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	v, err := lookup.Get(ctx, e.rt.Client, e.rt.Namespace, request.Name, &v1beta2.BackupVolume{})
	if v == nil || err != nil || v.DeletionTimestamp == nil || !slices.Contains(v.Finalizers, v1beta2.Finalizer) || e.rt.Observe {
		return ctrl.Result{}, err
	}
	w, err := e.observe(ctx, v, e.rt.Client)
	if err != nil {
		return ctrl.Result{}, err
	}
	w.Progress = e.removals.Of(v.UID)
	end := backuplist.DecideEnd(*w)
	if err := e.apply(ctx, w, end); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if end.Enqueue.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: kube.Until(end.Enqueue, e.rt.Clock.Now())}, nil
}

// observe reads what the end of a BackupVolume depends on; the target is read from this reader.
func (e *ending) observe(ctx context.Context, v *v1beta2.BackupVolume, from client.Reader) (w *backuplist.EndWorld, err error) {
	w = &backuplist.EndWorld{Now: e.rt.Clock.Now(), Volume: v}
	target := backuplist.TargetOf(v)
	if w.Target, err = lookup.Get(ctx, from, e.rt.Namespace, target, &v1beta2.BackupTarget{}); err != nil {
		return nil, err
	}
	_, backups, err := e.known(ctx, target)
	if err != nil {
		return nil, err
	}
	w.Backups = backuplist.OfVolume(v, backups)
	if w.Uninstalled, err = uninstall.Why(ctx, e.rt.Uncached, e.rt.Namespace); err != nil {
		return nil, err
	}
	w.Busy, err = e.busy(ctx, v, w.Backups)
	return w, err
}

// busy explains who uses what the target has of a volume; empty: nobody.
func (e *ending) busy(ctx context.Context, v *v1beta2.BackupVolume, backups []*v1beta2.Backup) (string, error) {
	for _, b := range backups {
		if v1beta2.IsBackupBegun(b) {
			return "Backup " + b.Name + " is being taken", nil
		}
	}
	for _, b := range backups {
		filled, err := e.filled.Volume(ctx, b)
		if filled != "" || err != nil {
			return "Volume " + filled + " is being filled from Backup " + b.Name, err
		}
	}
	return "", nil
}

// apply does the one step of a verdict.
func (e *ending) apply(ctx context.Context, w *backuplist.EndWorld, end backuplist.End) error {
	v := w.Volume
	switch end.Step {
	case backuplist.EndNone:
		return nil
	case backuplist.EndForget:
		for _, b := range w.Unforgotten() {
			if err := e.forget(ctx, b, &v1beta2.Backup{}); err != nil {
				return err
			}
		}
		return nil
	case backuplist.EndSay:
		return status.MergeStatus(ctx, e.rt.Client, v, map[string]any{"messages": map[string]string{backuplist.MessageError: end.Message}},
			status.AtVersion())
	case backuplist.EndRemove:
		if e.removals.Begin(v.UID, v.Name, func(ctx context.Context) (string, error) { return "", e.remove(ctx, w) }) {
			log.FromContext(ctx).Info("the data of a BackupVolume is to be removed", "name", v.Name)
		}
		return nil
	case backuplist.EndDropFinalizer:
		if err := status.DropFinalizer(ctx, e.rt.Client, v, v1beta2.Finalizer); err != nil {
			return err
		}
		e.removals.Forget(v.UID)
		events.Emit(e.rt.Recorder, v, events.Event{Type: corev1.EventTypeNormal, Reason: "BackupVolumeEnded", Action: "EndBackupVolume",
			Note: end.Message})
		log.FromContext(ctx).Info("BackupVolume ended", "name", v.Name, "message", end.Message)
		return nil
	}
	return fmt.Errorf("unknown step %q", end.Step)
}

// errOutdated is that the objects are not any more what was evaluated: nothing was removed.
var errOutdated = errors.New("the BackupVolume or its target changed meanwhile")

// remove removes all that the target has of a volume, and returns nil once the target lists no such volume.
func (e *ending) remove(ctx context.Context, was *backuplist.EndWorld) error {
	v, target, err := e.confirm(ctx, was)
	if err != nil {
		return err
	}
	store, err := e.stores.ForRemoval(ctx, target)
	if err != nil {
		return err
	}
	volume := backuplist.VolumeOf(v)
	listed, err := store.Volumes(ctx)
	if err != nil {
		return err
	}
	if _, there := listed[volume]; !there {
		if _, err := store.Volume(ctx, volume); errors.Is(err, enginecommand.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if _, _, err := e.confirm(ctx, was); err != nil { // the target may have taken long to answer
		return err
	}
	log.FromContext(ctx).Info("removing a volume from its backup target", "volume", volume, "target", target.Name)
	if err := store.RemoveVolume(ctx, volume); err != nil {
		return err
	}
	if listed, err = store.Volumes(ctx); err != nil {
		return err
	}
	if _, there := listed[volume]; there {
		return errors.New("the target still lists it")
	}
	return nil
}

// confirm reads the objects uncached, and returns them if the data may go for the same reason as when it was decided.
func (e *ending) confirm(ctx context.Context, was *backuplist.EndWorld) (*v1beta2.BackupVolume, *v1beta2.BackupTarget, error) {
	live, err := lookup.Get(ctx, e.rt.Uncached, e.rt.Namespace, was.Volume.Name, &v1beta2.BackupVolume{})
	if err != nil {
		return nil, nil, err
	}
	if live == nil || live.UID != was.Volume.UID || live.DeletionTimestamp == nil || live.Status.TargetURL != was.Volume.Status.TargetURL ||
		backuplist.VolumeOf(live) != backuplist.VolumeOf(was.Volume) {
		return nil, nil, errOutdated
	}
	now, err := e.observe(ctx, live, e.rt.Uncached)
	if err != nil {
		return nil, nil, err
	}
	if now.Target == nil || now.Target.UID != was.Target.UID || backuplist.DecideEnd(*now).Step != backuplist.EndRemove {
		return nil, nil, errOutdated
	}
	return live, now.Target, nil
}
