package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func ready(status v1beta2.ConditionStatus, reason string) func(*World) {
	return func(w *World) {
		w.Snapshot.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: status, Reason: reason}}
	}
}

func TestWhatASnapshotHasToBe(t *testing.T) {
	going := func(w *World) { w.Snapshot.DeletionTimestamp = &metav1.Time{} }
	for sentence, c := range map[string]struct {
		world World
		says  string
	}{
		"one that goes":               {world(going), "Snapshot snap-1 is being deleted; delete this Backup, too."},
		"one that is ready, and goes": {world(holdsTicket, going), "Snapshot snap-1 is being deleted; delete this Backup, too."},
		"one of which nothing is known yet": {world(func(w *World) { w.Snapshot.Status.Conditions = nil }),
			"nothing is reported of it yet"},
		"one that is not ready, by its reason": {world(ready(v1beta2.ConditionFalse, v1beta2.ReasonCreating)),
			"Snapshot snap-1 is not ready: Creating; see the Snapshot."},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, v1beta2.ReasonSnapshotNotReady, v.Reason)
			require.Contains(t, v.Message, c.says)
			require.Nil(t, v.Ticket, "attaching the volume would not help")
		})
	}
}

// A snapshot was last seen before the volume was detached. It is attached, and the engine's list has to show it before anything is copied.
func TestASnapshotIsSeenAgainBeforeItIsCopied(t *testing.T) {
	seen := ready(v1beta2.ConditionFalse, v1beta2.ReasonVolumeDetached)
	require.Equal(t, StepTakeTicket, Decide(world(detached, seen)).Step)
	v := Decide(world(seen))
	require.Equal(t, v1beta2.ReasonSnapshotNotReady, v.Reason, "attached, it is another reason")
	require.Nil(t, v.Ticket)
	v = Decide(world(seen, holdsTicket))
	require.Equal(t, v1beta2.ReasonWaitingForAttach, v.Reason, "the volume was attached for it, and stays so until its engine was polled")
	require.NotNil(t, v.Ticket)
	require.Contains(t, v.Message, "its engine has to show snapshot snap-1")
	require.Equal(t, v1beta2.ReasonReady, Decide(world(seen, holdsTicket, state(v1beta2.BackupInProgress))).Reason,
		"what was begun was seen")
}

func TestATargetThatIsNoTarget(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*World)
		says   string
	}{
		"none of that name": {func(w *World) { w.Target = nil }, "There is no BackupTarget default; create it, or name another."},
		"one that goes": {func(w *World) { w.Target.DeletionTimestamp = &metav1.Time{} },
			"BackupTarget default is being deleted; name another."},
		"one without an address": {func(w *World) { w.Target.Spec.BackupTargetURL = "" },
			"BackupTarget default has no backupTargetURL; set it."},
		"one that longhorn-manager did not reach": {func(w *World) { w.Target.Status.LastSyncedAt = "2026-08-01T11:00:00Z" },
			"at 2026-08-01T11:00:00Z; repair it, or empty its status.lastSyncedAt"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := world(holdsTicket, c.change)
			v := Decide(w)
			require.Equal(t, v1beta2.ReasonTargetUnavailable, v.Reason)
			require.Contains(t, v.Message, c.says)
			require.Zero(t, v.Enqueue, "it is tried again when it changes")
			w.Backup.Status.State = v1beta2.BackupInProgress
			require.Equal(t, v1beta2.ReasonReady, Decide(w).Reason, "what was begun continues")
		})
	}
	v := Decide(world(holdsTicket, func(w *World) {
		w.Target.Status.LastSyncedAt, w.Target.Status.Available = "2026-08-01T11:00:00Z", true
	}))
	require.Equal(t, v1beta2.ReasonReady, v.Reason)
}

// The pause after a refusal is as long as the target has refused, within its limits.
func TestThePauseOfATargetThatRefused(t *testing.T) {
	for sentence, c := range map[string]struct {
		refusing, want time.Duration
	}{
		"the first refusal":      {0, pauseShortest},
		"between its limits":     {10 * time.Minute, 10 * time.Minute},
		"at its longest":         {pauseLongest, pauseLongest},
		"beyond its longest":     {24 * time.Hour, pauseLongest},
		"a clock that went back": {-time.Hour, pauseShortest},
	} {
		t.Run(sentence, func(t *testing.T) {
			last := noon.Add(-time.Second)
			w := world(refused(2, time.Second), holdsTicket)
			w.Target.Status.Conditions[0].LastTransitionTime = last.Add(-c.refusing).Format(time.RFC3339)
			v := Decide(w)
			require.Equal(t, last.Add(c.want), v.Enqueue)
			require.Contains(t, v.Message, v.Enqueue.Format(time.RFC3339))
			w.Now = v.Enqueue.Add(-1)
			require.Equal(t, v1beta2.ReasonTargetUnavailable, Decide(w).Reason)
			w.Now = v.Enqueue
			require.Equal(t, v1beta2.ReasonReady, Decide(w).Reason)
		})
	}
	for sentence, change := range map[string]func(*v1beta2.Condition){
		"a refusal without a time":     func(c *v1beta2.Condition) { c.LastProbeTime = "" },
		"a target that is available":   func(c *v1beta2.Condition) { c.Status = v1beta2.ConditionTrue },
		"a target that is not known":   func(c *v1beta2.Condition) { c.Status = v1beta2.ConditionUnknown },
		"a refusal of an earlier spec": func(c *v1beta2.Condition) { c.ObservedGeneration = 1 },
	} {
		w := world(refused(2, time.Second), holdsTicket)
		change(&w.Target.Status.Conditions[0])
		require.Equal(t, v1beta2.ReasonReady, Decide(w).Reason, sentence)
	}
}

// What was begun belongs to the volume that it was begun with: a Snapshot of the same name may be another volume's by now.
func TestWhichVolumeABackupIsOf(t *testing.T) {
	b := &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1beta2.LabelBackupVolume: "of-label"}}}
	s := &v1beta2.Snapshot{Spec: v1beta2.SnapshotSpec{Volume: "of-snapshot"}}
	require.Equal(t, "of-label", VolumeName(b, nil))
	require.Equal(t, "of-snapshot", VolumeName(b, s))
	b.Status.VolumeName = "of-status"
	require.Equal(t, "of-status", VolumeName(b, s))
	require.Equal(t, "of-status", VolumeName(b, nil))
	require.Empty(t, VolumeName(&v1beta2.Backup{}, nil))
}

// A change of a VolumeAttachment wakes backups only where it changes what is decided of one.
func TestWhichChangesOfTicketsConcernBackups(t *testing.T) {
	with := func(change func(*v1beta2.VolumeAttachment)) *v1beta2.VolumeAttachment {
		a := world(holdsTicket).Attachment
		change(a)
		return a
	}
	id := TicketID("backup-1")
	answered := func(change func(*v1beta2.AttachmentTicketStatus)) func(*v1beta2.VolumeAttachment) {
		return func(a *v1beta2.VolumeAttachment) {
			s := a.Status.AttachmentTicketStatuses[id]
			change(&s)
			a.Status.AttachmentTicketStatuses[id] = s
		}
	}
	for sentence, c := range map[string]struct {
		change  func(*v1beta2.VolumeAttachment)
		differs bool
	}{
		"nothing":               {func(*v1beta2.VolumeAttachment) {}, false},
		"a ticket that is gone": {func(a *v1beta2.VolumeAttachment) { a.Spec.AttachmentTickets = nil }, true},
		"a ticket to another node": {func(a *v1beta2.VolumeAttachment) {
			a.Spec.AttachmentTickets[id] = v1beta2.AttachmentTicket{ID: id, Type: v1beta2.AttacherBackup, NodeID: "node-2"}
		}, true},
		"the ticket of somebody else": {func(a *v1beta2.VolumeAttachment) {
			a.Spec.AttachmentTickets["csi"] = v1beta2.AttachmentTicket{ID: "csi", Type: v1beta2.AttacherCSI, NodeID: "node-2"}
		}, false},
		"the generation of an answer": {answered(func(s *v1beta2.AttachmentTicketStatus) { s.Generation++ }), true},
		"the reason of an answer": {answered(func(s *v1beta2.AttachmentTicketStatus) {
			s.Conditions = []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: v1beta2.ConditionFalse,
				Reason: v1beta2.ReasonNodeNotReady}}
		}), true},
	} {
		was := with(func(*v1beta2.VolumeAttachment) {})
		require.Equal(t, c.differs, TicketsDiffer(was, with(c.change)), sentence)
		require.Equal(t, c.differs, TicketsDiffer(with(c.change), was), sentence)
	}
}

func TestADeletedBackupSaysWhatMayBeLeft(t *testing.T) {
	require.Equal(t, "Nothing was copied for it.", Decide(world(deleted)).Message)
	require.Contains(t, Decide(world(deleted, detached, state(v1beta2.BackupInProgress))).Message,
		"stays in BackupTarget default, perhaps all of it")
}
