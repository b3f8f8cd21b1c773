package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		world  World
		step   Step
		reason string
	}{
		"an attached volume is held before the backup is approved": {world(), StepTakeTicket, v1beta2.ReasonWaitingForAttach},
		"a ticket that is not answered yet holds nothing":          {world(asks), StepSay, v1beta2.ReasonWaitingForAttach},
		"nor does the answer to an earlier one":                    {world(asksAgain), StepSay, v1beta2.ReasonWaitingForAttach},
		"what was begun continues while its ticket is not answered": {world(asks, state(v1beta2.BackupInProgress)), StepSay,
			v1beta2.ReasonReady},
		"with the volume held it is approved":                    {world(holdsTicket), StepSay, v1beta2.ReasonReady},
		"a detached volume is attached":                          {world(detached), StepTakeTicket, v1beta2.ReasonWaitingForAttach},
		"a detached volume that is being attached is waited for": {world(detached, holdsTicket), StepSay, v1beta2.ReasonWaitingForAttach},
		"a volume that no node can take waits without a ticket": {world(detached, func(w *World) { w.Candidate = "" }), StepSay,
			v1beta2.ReasonWaitingForAttach},
		"an incomplete object is repaired first": {world(func(w *World) { w.Backup.Finalizers = nil }), StepRepair,
			"Repaired"},
		"a label that names another volume is repaired": {world(func(w *World) { w.Backup.Labels = nil }), StepRepair,
			"Repaired"},
		"a snapshot that does not exist is waited for": {world(func(w *World) { w.Snapshot = nil }), StepSay,
			v1beta2.ReasonSnapshotNotReady},
		"a snapshot that is not ready is waited for without a ticket": {world(holdsTicket, shown(v1beta2.ReasonSnapshotNotReady),
			func(w *World) {
				w.Snapshot.Status.Conditions[0].Status, w.Snapshot.Status.Conditions[0].Reason = v1beta2.ConditionFalse,
					v1beta2.ReasonCreating
			}), StepSay, v1beta2.ReasonSnapshotNotReady},
		"a snapshot that was not seen since the volume was detached is searched for": {world(detached, func(w *World) {
			w.Snapshot.Status.Conditions[0].Status, w.Snapshot.Status.Conditions[0].Reason = v1beta2.ConditionFalse,
				v1beta2.ReasonVolumeDetached
		}), StepTakeTicket, v1beta2.ReasonWaitingForAttach},
		"a volume that is gone is reported": {world(func(w *World) { w.Volume = nil }), StepSay,
			v1beta2.ReasonVolumeNotFound},
		"a volume of the same name is another one": {world(func(w *World) { w.Volume.UID = "other" }), StepSay,
			v1beta2.ReasonVolumeNotFound},
		"a volume that is going is gone": {world(func(w *World) { w.Volume.DeletionTimestamp = &w.Snapshot.CreationTimestamp }), StepSay,
			v1beta2.ReasonVolumeNotFound},
		"without a snapshot the label names the volume": {world(func(w *World) { w.Snapshot, w.Volume = nil, nil }), StepSay,
			v1beta2.ReasonVolumeNotFound},
		"a volume that is being restored is waited for, without a ticket": {world(restoring, holdsTicket), StepSay, v1beta2.ReasonRestoring},
		"what was begun continues, whatever the volume's data is": {world(restoring, holdsTicket,
			state(v1beta2.BackupInProgress)), StepSay, v1beta2.ReasonReady},
		"a volume that is being filled from another one is waited for": {world(func(w *World) {
			w.Volume.Status.CloneStatus.State = v1beta2.CloneInitiated
		}), StepSay, v1beta2.ReasonCloning},
		"a volume that moves is waited for": {world(func(w *World) { w.Volume.Spec.MigrationNodeID = "node-2" }),
			StepSay, v1beta2.ReasonWaitingForAttach},
		"a volume whose target is relocated is waited for": {world(v2, holdsTicket, relocated), StepSay, v1beta2.ReasonUpgrading},
		"a volume that uses a node under upgrade is waited for": {world(v2, holdsTicket, approved, upgrading), StepSay,
			v1beta2.ReasonUpgrading},
		"without a ticket": {world(v2, detached, upgrading), StepSay, v1beta2.ReasonUpgrading},
		"what was begun before an upgrade continues": {world(v2, holdsTicket, upgrading, relocated, state(v1beta2.BackupPending)),
			StepSay, v1beta2.ReasonReady},
		"a v1 volume on such a node is not upgraded": {world(holdsTicket, upgrading), StepSay, v1beta2.ReasonReady},
		"no more is one whose nodes are not under upgrade": {world(v2, holdsTicket, func(w *World) {
			w.Nodes = []*v1beta2.Node{{}, nil}
		}), StepSay, v1beta2.ReasonReady},
		"without a target it waits": {world(func(w *World) { w.Target = nil }), StepSay,
			v1beta2.ReasonTargetUnavailable},
		"a target without a URL is none": {world(func(w *World) { w.Target.Spec.BackupTargetURL = "" }), StepSay,
			v1beta2.ReasonTargetUnavailable},
		"a target with credentials is as good as any": {world(holdsTicket,
			func(w *World) { w.Target.Spec.CredentialSecret = "s3" }), StepSay, v1beta2.ReasonReady},
		"a target that Longhorn could not reach is waited for": {
			world(func(w *World) { w.Target.Status.LastSyncedAt = "2026-08-01T11:00:00Z" }), StepSay, v1beta2.ReasonTargetUnavailable},
		"a target that refused just now gets its pause": {world(refused(2, time.Second)), StepSay, v1beta2.ReasonTargetUnavailable},
		"one that refuses for hours gets a longer pause": {world(refused(2, 10*time.Minute), func(w *World) {
			w.Target.Status.Conditions[0].LastTransitionTime = noon.Add(-3 * time.Hour).Format(time.RFC3339)
		}), StepSay, v1beta2.ReasonTargetUnavailable},
		"a target that refused long ago is tried again": {world(refused(2, time.Hour), holdsTicket), StepSay, v1beta2.ReasonReady},
		"a target that was changed since is tried at once": {world(refused(1, time.Second), holdsTicket), StepSay,
			v1beta2.ReasonReady},
		"what was begun continues, whatever is reported of the target": {world(refused(2, time.Second), state(v1beta2.BackupInProgress),
			holdsTicket), StepSay, v1beta2.ReasonReady},
		"what was begun continues while its snapshot is deleted": {world(state(v1beta2.BackupInProgress), holdsTicket, func(w *World) {
			w.Snapshot.DeletionTimestamp = &w.Snapshot.CreationTimestamp
		}), StepSay, v1beta2.ReasonReady},
		"what was begun has its volume attached again": {world(state(v1beta2.BackupPending), detached), StepTakeTicket,
			v1beta2.ReasonWaitingForAttach},
		"a completed one holds nothing":                 {world(holdsTicket, state(v1beta2.BackupCompleted)), StepDropTicket, "Ended"},
		"a failed one holds nothing":                    {world(holdsTicket, state(v1beta2.BackupError)), StepDropTicket, "Ended"},
		"of a failed one it is reported that it failed": {world(state(v1beta2.BackupError), approved), StepSay, v1beta2.ReasonFailed},
		"once": {world(state(v1beta2.BackupError), shown(v1beta2.ReasonFailed)), StepNone, "Ended"},
		"of one that failed under Longhorn nothing is": {world(state(v1beta2.BackupError)), StepNone, "Ended"},
		"a completed one stays approved":               {world(state(v1beta2.BackupCompleted), approved), StepNone, "Ended"},
		"a completed one is left alone":                {world(state(v1beta2.BackupCompleted)), StepNone, "Ended"},
		"one that a target has already is left alone": {world(func(w *World) { w.Backup.Spec.SnapshotName = "" },
			state(v1beta2.BackupCompleted)), StepNone, "Ended"},
		"nor is one whose report from there may be on its way": {world(func(w *World) {
			w.Backup.Spec.SnapshotName, w.Backup.CreationTimestamp = "", metav1.NewTime(noon.Add(-time.Second))
		}), StepNone, "Ended"},
		"one that names no snapshot is reported": {world(func(w *World) { w.Backup.Spec.SnapshotName, w.Snapshot = "", nil }), StepSay,
			v1beta2.ReasonSnapshotNotReady},
		"a deleted one gives its ticket back first":     {world(deleted, holdsTicket), StepDropTicket, "BackupEnded"},
		"a deleted one waits while an engine copies it": {world(deleted, state(v1beta2.BackupInProgress)), StepSay, v1beta2.ReasonBackingUp},
		"a deleted one waits while an engine may be asked, and is not heard of": {world(deleted, state(v1beta2.BackupPending), func(w *World) {
			w.Engine.Status.CurrentState = v1beta2.InstanceStateUnknown
		}), StepSay, v1beta2.ReasonBackingUp},
		"a deleted one goes with the engine that copied": {world(deleted, state(v1beta2.BackupInProgress), func(w *World) {
			w.Engine.Status.CurrentState = v1beta2.InstanceStateStopped
		}), StepDropFinalizer, "BackupEnded"},
		"a deleted one goes where there is no engine": {world(deleted, state(v1beta2.BackupInProgress), func(w *World) { w.Engine = nil }),
			StepDropFinalizer, "BackupEnded"},
		"a deleted one goes when the copy has ended": {world(deleted, state(v1beta2.BackupCompleted)), StepDropFinalizer, "BackupEnded"},
		"a deleted one goes without a call":          {world(deleted), StepDropFinalizer, "BackupEnded"},
		"a deleted one whose volume is gone goes": {world(deleted,
			func(w *World) { w.Volume, w.Snapshot, w.Attachment = nil, nil, nil }), StepDropFinalizer, "BackupEnded"},
		"nothing is done for one that is deleted by another": {world(deleted, func(w *World) { w.Backup.Finalizers = nil }), StepNone,
			"BackupEnded"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(test.world)
			require.Equal(t, test.step, v.Step, "%+v", v)
			require.Equal(t, test.reason, v.Reason)
			require.NotEmpty(t, v.Message)
			require.Equal(t, v, Decide(test.world))
		})
	}
}

func approved(w *World) {
	w.Backup.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonReady}}
}

func shown(reason string) func(*World) {
	return func(w *World) {
		w.Backup.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionFalse, Reason: reason}}
	}
}

// A target that refused is tried again without anybody's help.
func TestATargetThatRefusedIsTriedAgainAtItsTime(t *testing.T) {
	v := Decide(world(refused(2, 10*time.Second)))
	require.Equal(t, noon.Add(50*time.Second), v.Enqueue)
}

// Where the data stays, the last event names its place.
func TestADeletedBackupSaysWhereItsDataIs(t *testing.T) {
	v := Decide(world(deleted, state(v1beta2.BackupCompleted),
		func(w *World) { w.Backup.Status.URL, w.Target = "nfs://server/path?backup=backup-1", nil }))
	require.Contains(t, v.Message, "nfs://server/path?backup=backup-1")
}

// Whatever the world is, a few writes later nothing is left to write, and what waits holds a ticket only for attaching.
func TestItComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world()
		for _, change := range []func(*World){
			detached, deleted, holdsTicket, asks, state(v1beta2.BackupPending), state(v1beta2.BackupInProgress),
			state(v1beta2.BackupCompleted), state(v1beta2.BackupError),
			refused(2, time.Second), refused(1, time.Second),
			func(w *World) { w.Target = nil }, func(w *World) { w.Candidate = "" }, func(w *World) { w.Backup.Finalizers = nil },
			func(w *World) { w.Backup.Labels = nil }, func(w *World) { w.Volume.UID = "other" }, func(w *World) { w.Engine = nil },
			func(w *World) { w.Volume.Status.CurrentMigrationNodeID = "node-2" }, v2, upgrading, relocated,
			func(w *World) { w.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted },
			func(w *World) { w.Snapshot.Status.Conditions = nil },
		} {
			if rapid.Bool().Draw(t, "change") && w.Engine != nil {
				change(&w)
			}
		}
		if rapid.Bool().Draw(t, "no snapshot") {
			w.Snapshot = nil
		}
		if rapid.Bool().Draw(t, "no volume") {
			w.Volume = nil
		}
		for range 8 {
			v := Decide(w)
			require.Equal(t, v, Decide(w))
			if v.Step == StepNone {
				held := w.ticket() != nil
				require.False(t, held && (w.deleting() || v1beta2.IsBackupEnded(w.Backup) || v.Reason == v1beta2.ReasonTargetUnavailable ||
					v.Reason == v1beta2.ReasonVolumeNotFound || v.Reason == v1beta2.ReasonUpgrading))
				return
			}
			w = done(w, v)
		}
		t.Fatalf("it still writes: %+v", Decide(w))
	})
}
