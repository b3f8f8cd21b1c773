package csisnapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// anything is a world as the API could have it.
func anything(t *rapid.T) World {
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	w := asked()
	if yes("found") {
		w = found(one("handle", "snap://vol-1/old", "bak://vol-1/old", "nothing"))
	}
	w.Content.Deletes, w.Content.Deleting, w.Content.BeingDeleted = yes("deletes"), yes("deleting"), yes("being deleted")
	w.Content.BeingCreated, w.Content.HasFinalizer = yes("being created"), yes("finalizer")
	if yes("no class") {
		w.Class = nil
	} else if w.Class != nil {
		w.Class.Type = one("type", "", "snap", "bak", "bi")
	}
	if yes("unbound") {
		w.Content.SnapshotUID = ""
	}
	if yes("no volume") {
		w.Volume = nil
	}
	_, snapshot, backup := w.Content.Names()
	if snapshot != "" && yes("snapshot") {
		ago := time.Duration(rapid.IntRange(0, 120).Draw(t, "age")) * time.Second
		snapshotted(ago, one("reason", v1beta2.ReasonReady, v1beta2.ReasonFailed, v1beta2.ReasonCreating), "so it is")(&w)
	}
	if backup != "" && yes("backup") {
		backedUp(one("state", "", v1beta2.BackupInProgress, v1beta2.BackupCompleted, v1beta2.BackupError))(&w)
	}
	if yes("they are deleted") {
		deleting(&w)
	}
	w.Content.Status.Handle = one("status", "", "", handle, "bak://vol-1/backup-"+uid)
	w.Content.Status.Ready = yes("ready")
	w.Content.Status.Error = one("error of another writer", "", "an attempt of an hour ago failed")
	if yes("clone") {
		w.Clones = []string{"clone-1"}
	}
	return w
}

// done is the world after the verdict's write.
func done(w World, v Verdict) World {
	at := metav1.NewTime(now)
	switch v.Step {
	case StepMark, StepUnmark:
		w.Content.BeingCreated = v.Step == StepMark
	case StepCreateSnapshot:
		snapshotted(0, v1beta2.ReasonCreating, "It is being taken.")(&w)
	case StepCreateBackup:
		backedUp("")(&w)
	case StepStatus:
		w.Content.Status = v.Status
	case StepDeleteSnapshot:
		s := *w.Snapshot
		s.DeletionTimestamp, w.Snapshot = &at, &s
	case StepDeleteBackup:
		b := *w.Backup
		b.DeletionTimestamp, w.Backup = &at, &b
	case StepRelease:
		w.Content.HasFinalizer = false
	}
	return w
}

// Every world reaches a fixed point by a few writes, decides the same twice, and the writes have no cycle. [ALL-2]
func TestEveryWorldComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anything(t)
		for range 10 {
			v := Decide(w)
			require.Equal(t, v, Decide(w))
			if v.Step == StepNone {
				return
			}
			require.NotEqual(t, w, done(w, v), "%s changes nothing", v.Step)
			w = done(w, v)
		}
		require.Fail(t, "it never comes to rest")
	})
}

// A content that is ready and stays shows no error, whoever wrote it.
func TestAReadyContentEndsWithoutAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anything(t)
		for v := Decide(w); v.Step != StepNone; v = Decide(w) {
			w = done(w, v)
		}
		if v := Decide(w); v.Outcome == OutcomeReady {
			require.Empty(t, w.Content.Status.Error)
		}
	})
}

// Nothing is deleted without a request: only a content that is being deleted, with deletion policy Delete, deletes anything else. [SNP-1]
func TestNothingIsDeletedUnasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anything(t)
		switch v := Decide(w); v.Step {
		case StepDeleteBackup:
			require.True(t, w.Content.Deleting && w.Content.Deletes)
		case StepDeleteSnapshot:
			require.True(t, w.Content.Deleting && w.Content.Deletes)
			require.Equal(t, "vol-1", w.Snapshot.Spec.Volume)
		case StepRelease:
			left := w.Content.Deletes && w.Content.has() && w.Snapshot != nil && w.Snapshot.DeletionTimestamp == nil
			require.False(t, left, "the Snapshot is left behind")
		}
	})
}
