package diskcontroller

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/disk-controller/internal/disk"
	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/mergepatch"
	"drover.dev/drover/shared/retry"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
)

type reconciler struct {
	Options
	rt       *runkit.Runtime
	settings *settingcontroller.Source[setting.Values]
	looker   *Looker
	random   func() float64
	metrics  *metrics
}

// Reconcile brings the v1 disks of the node up to date. A disk that is new to this cluster is decided on with an
// uncached read of the node.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if request.Name != r.Node {
		return ctrl.Result{}, nil
	}
	var n v1beta2.Node
	if err := r.rt.Client.Get(ctx, request.NamespacedName, &n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w, err := r.observe(ctx, &n)
	if err != nil {
		return ctrl.Result{}, err
	}
	v := disk.Decide(w)
	if v.AskElsewhere {
		if v, err = r.addNew(ctx, request, &n); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}
	if err := r.write(ctx, &n, v.Changes); err != nil {
		if status.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil // the node that was decided on is no more
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.metrics.record(&n, v.Changes)
	return ctrl.Result{RequeueAfter: retry.Jitter(r.Period, r.random)}, nil
}

// addNew decides on disks that are new to this cluster, with uncached reads of the node and of the disks of other nodes. It prepares the
// directories that are to become disks, and decides again on their new content.
func (r *reconciler) addNew(ctx context.Context, request ctrl.Request, n *v1beta2.Node) (disk.Verdict, error) {
	if err := r.rt.Uncached.Get(ctx, request.NamespacedName, n); err != nil {
		return disk.Verdict{}, err
	}
	w, err := r.observe(ctx, n)
	if err != nil {
		return disk.Verdict{}, err
	}
	if err := r.readElsewhere(ctx, &w); err != nil {
		return disk.Verdict{}, err
	}
	v := disk.Decide(w)
	if len(v.Prepare) == 0 || r.rt.Observe {
		return v, nil
	}
	for _, key := range v.Prepare {
		r.prepare(&w, n, key)
	}
	return disk.Decide(w), nil
}

// prepare makes a directory a disk, and looks at it again.
func (r *reconciler) prepare(w *disk.World, n *v1beta2.Node, key string) {
	path, id := w.Specs[key].Path, w.ChooseUUID(uuid.NewString)
	log := r.rt.Log.WithValues("node", n.Name, "disk", key, "path", path)
	if err := r.looker.prepare(path, directory.Config{DiskName: key, DiskUUID: id, State: "ready"}); err != nil {
		log.Error(err, "Preparing a disk failed")
		r.metrics.prepared.WithLabelValues("error").Inc()
		w.Sights[key] = disk.Sight{Problem: err.Error()}
		return
	}
	log.Info("Prepared a disk", "uuid", id)
	r.metrics.prepared.WithLabelValues("ok").Inc()
	w.Sights[key] = r.looker.Look(path)
	events.Emit(r.rt.Recorder, n, events.Event{Type: corev1.EventTypeNormal, Reason: "DiskPrepared", Action: "PrepareDisk",
		Note: fmt.Sprintf("Directory %s is disk %s with UUID %s now.", path, key, id)})
}

// write makes the changes true, bound to the version that was decided on, and reports disks that became ready, or are not any more.
func (r *reconciler) write(ctx context.Context, n *v1beta2.Node, changes map[string]*v1beta2.DiskStatus) error {
	if len(changes) == 0 {
		return nil
	}
	fields := map[string]any{"diskStatus": fieldsOf(n.Status.DiskStatus, changes)}
	if err := status.MergeStatus(ctx, r.rt.Client, n, fields, status.AtVersion()); err != nil {
		return err
	}
	r.rt.Log.Info("Wrote disks", "node", n.Name, "changed", len(changes))
	for key, d := range changes {
		if e := readiness(key, n.Status.DiskStatus[key], d); e != nil {
			events.Emit(r.rt.Recorder, n, *e)
		}
	}
	return nil
}

// readiness returns the event of a disk whose condition Ready changed its status or reason; nil if it did not.
func readiness(key string, before v1beta2.DiskStatus, after *v1beta2.DiskStatus) *events.Event {
	if after == nil {
		return nil
	}
	was, is := conditions.Get(before.Conditions, v1beta2.DiskReady), conditions.Get(after.Conditions, v1beta2.DiskReady)
	if was != nil && was.Status == is.Status && was.Reason == is.Reason {
		return nil
	}
	e := events.Event{Type: corev1.EventTypeNormal, Reason: "DiskReady", Action: "CheckDisk", Note: is.Message}
	if is.Status != v1beta2.ConditionTrue {
		e.Type, e.Reason = corev1.EventTypeWarning, "DiskNotReady"
	}
	return &e
}

// fieldsOf returns the merge patch of the disks that changed: only fields that disk-controller owns, and null for a disk to remove.
func fieldsOf(before map[string]v1beta2.DiskStatus, changes map[string]*v1beta2.DiskStatus) map[string]any {
	out := map[string]any{}
	for key, d := range changes {
		if d == nil {
			out[key] = nil
			continue
		}
		out[key] = map[string]any{
			"diskName": d.DiskName, "diskPath": d.DiskPath, "diskType": d.DiskType, "diskDriver": "", "diskUUID": d.DiskUUID,
			"filesystemType": d.FilesystemType, "storageMaximum": d.StorageMaximum, "storageAvailable": d.StorageAvailable,
			"storageScheduled": d.StorageScheduled, "conditions": status.ConditionsField(d.Conditions),
			"scheduledReplica":      mergepatch.OfMap(before[key].ScheduledReplica, d.ScheduledReplica),
			"scheduledBackingImage": mergepatch.OfMap(before[key].ScheduledBackingImage, d.ScheduledBackingImage),
		}
	}
	return out
}
