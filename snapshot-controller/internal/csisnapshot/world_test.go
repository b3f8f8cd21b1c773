package csisnapshot

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const (
	uid    = "0f8d6a52"
	handle = "snap://vol-1/snapshot-" + uid
)

// asked is a content that was bound a moment ago, and the world that it needs.
func asked(change ...func(*World)) World {
	w := World{
		Now: now,
		Content: Content{Name: "content", Driver: volumesnapshot.Driver, ClassName: "class", VolumeHandle: "vol-1", SnapshotUID: uid,
			Deletes: true, HasFinalizer: true},
		Class:  &Class{Driver: volumesnapshot.Driver, Type: "snap"},
		Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}, Spec: v1beta2.VolumeSpec{Size: 1000}},
	}
	for _, c := range change {
		c(&w)
	}
	return w
}

// found is a content that names what is there already.
func found(text string, change ...func(*World)) World {
	return asked(append([]func(*World){func(w *World) {
		w.Content.VolumeHandle, w.Content.ClassName, w.Content.SnapshotHandle, w.Class = "", "", text, nil
	}}, change...)...)
}

func marked(w *World)  { w.Content.BeingCreated = true }
func backups(w *World) { w.Class.Type = "" }

func going(w *World) { w.Content.Deleting, w.Content.BeingDeleted = true, true }

func retained(w *World) { w.Content.Deletes = false }

func shows(s Status) func(*World) { return func(w *World) { w.Content.Status = s } }

// snapshotted has the Snapshot for the content, made this long ago, of which this was reported.
func snapshotted(ago time.Duration, reason, message string) func(*World) {
	return func(w *World) {
		volume, name, _ := w.Content.Names()
		made := now.Add(-ago)
		w.Snapshot = &v1beta2.Snapshot{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(made)},
			Spec:       v1beta2.SnapshotSpec{Volume: volume, CreateSnapshot: true},
		}
		w.Snapshot.Status.Conditions = []v1beta2.Condition{{
			Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: reason, Message: message,
			LastTransitionTime: made.Format(time.RFC3339),
		}}
		switch reason {
		case v1beta2.ReasonReady:
			w.Snapshot.Status.CreationTime, w.Snapshot.Status.ReadyToUse, w.Snapshot.Status.RestoreSize = "2026-08-01T11:00:00Z", true, 1000
		case v1beta2.ReasonFailed:
			w.Snapshot.Status.Error = message
		}
	}
}

func ready(w *World) { snapshotted(time.Second, v1beta2.ReasonReady, "It can be used.")(w) }

func deleting(w *World) {
	at := metav1.NewTime(now)
	if w.Snapshot != nil {
		w.Snapshot.DeletionTimestamp = &at
	}
	if w.Backup != nil {
		w.Backup.DeletionTimestamp = &at
	}
}

// backedUp has the Backup for the content in the state.
func backedUp(state string) func(*World) {
	return func(w *World) {
		_, _, name := w.Content.Names()
		w.Backup = &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
		w.Backup.Status.State, w.Backup.Status.VolumeSize = state, "1000"
	}
}

var eleven = time.Date(2026, 8, 1, 11, 0, 0, 0, time.UTC).UnixNano()

var whole = Status{Handle: handle, Ready: true, CreationTime: eleven, RestoreSize: 1000}
