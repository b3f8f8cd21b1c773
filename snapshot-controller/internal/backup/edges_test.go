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

func TestTheConditionIsTrueOnlyWhereNothingStandsAgainstTheBackup(t *testing.T) {
	generation := func(w *World) { w.Backup.Generation = 7 }
	want := v1beta2.Condition{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady,
		Message: "Nothing stands against taking it; it goes to BackupTarget default.", ObservedGeneration: 7,
		LastTransitionTime: "2026-08-01T12:00:00Z"}
	v := Decide(world(holdsTicket, generation))
	require.Equal(t, want, v.Condition)
	require.Equal(t, want.Message, v.Message)
	for sentence, change := range map[string]func(*World){"detached": detached, "no target": func(w *World) { w.Target = nil },
		"no snapshot": func(w *World) { w.Snapshot = nil }, "deleted while it is copied": func(w *World) {
			state(v1beta2.BackupInProgress)(w)
			deleted(w)
			w.Attachment = nil
		}} {
		v := Decide(world(holdsTicket, generation, change))
		require.Equal(t, v1beta2.ConditionFalse, v.Condition.Status, sentence)
		require.Equal(t, v.Reason, v.Condition.Reason, sentence)
		require.EqualValues(t, 7, v.Condition.ObservedGeneration, sentence)
	}
}

func TestAMessageNamesTheObjectsAndTheNextStep(t *testing.T) {
	seen := ready(v1beta2.ConditionFalse, v1beta2.ReasonVolumeDetached)
	for want, w := range map[string]World{
		"Volume vol-1 is gone, or is being deleted; delete this Backup, unless it is completed.": world(func(w *World) { w.Volume = nil }),
		"There is no Snapshot snap-1; create it, or delete this Backup.":                         world(func(w *World) { w.Snapshot = nil }),
		"spec.snapshotName is empty: name the Snapshot to back up there, or delete this Backup.": world(func(w *World) {
			w.Backup.Spec.SnapshotName, w.Snapshot = "", nil
		}),
		"Volume vol-1 moves to another node; it is taken when that is done.": world(func(w *World) {
			w.Volume.Status.CurrentMigrationNodeID = "node-2"
		}),
		"Volume vol-1 is attached; its VolumeAttachment does not show yet that it stays.": world(asks),
		"Volume vol-1 is attached; its engine has to show snapshot snap-1, which was last seen before.": world(
			holdsTicket, seen),
		"Volume vol-1 is being attached for it.":                                        world(detached),
		"The copy failed; status.error has the engine's answer. Create another Backup.": world(state("Error"), approved),
		"Label and finalizer are put right.":                                            world(unfinalized),
		"The engine was at it: what it copied stays in BackupTarget default, perhaps all of it; " +
			"a reading of the target shows it if it is whole.": world(
			deleted, detached, state("Pending")),
		"It was deleted, and engine vol-1-e-0 still copies it: it goes when that has ended, or volume vol-1 is detached.": world(deleted,
			state(v1beta2.BackupInProgress), func(w *World) { w.Engine.Name, w.Engine.Spec.VolumeName = "vol-1-e-0", "vol-1" }),
		"BackupTarget default has another URL now: its data stays in the target, as nfs://other/path?backup=b.": world(deleted,
			state(v1beta2.BackupCompleted), detached, func(w *World) { w.Backup.Status.URL = "nfs://other/path?backup=b" }),
		"longhorn-manager could not reach BackupTarget default at noon; repair it, or empty its status.lastSyncedAt if that manager does " +
			"not run any more.": world(func(w *World) { w.Target.Status.LastSyncedAt = "noon" }),
		"BackupTarget default was refused by the last engine: No route. It is tried again at 2026-08-01T12:00:50Z.": world(
			refused(2, 10*time.Second)),
	} {
		require.Equal(t, want, Decide(w).Message)
	}
}

func unfinalized(w *World) { w.Backup.Finalizers = nil }

// Of what a target has longhorn-manager makes a Backup, and reports of it a moment later.
func TestABackupWithoutASnapshotIsReportedFromItsMomentOn(t *testing.T) {
	w := world(func(w *World) {
		w.Backup.Spec.SnapshotName, w.Snapshot, w.Backup.CreationTimestamp = "", nil, metav1.NewTime(noon)
	})
	v := Decide(w)
	require.Equal(t, "Ended", v.Reason)
	require.Equal(t, noon.Add(statusComes), v.Enqueue)
	w.Now = v.Enqueue.Add(-1)
	require.Equal(t, "Ended", Decide(w).Reason)
	w.Now = v.Enqueue
	require.Equal(t, v1beta2.ReasonSnapshotNotReady, Decide(w).Reason)
	for _, is := range []string{v1beta2.BackupInProgress, v1beta2.BackupCompleted, "Unknown"} {
		w.Backup.Status.State = is
		require.Equal(t, "Ended", Decide(w).Reason, "%s: of one of which something is reported nothing is to be done", is)
	}
}

func TestWithoutASnapshotAndALabelNoVolumeIsMissed(t *testing.T) {
	v := Decide(world(func(w *World) { w.Snapshot, w.Volume, w.Backup.Labels = nil, nil, nil }))
	require.Equal(t, v1beta2.ReasonSnapshotNotReady, v.Reason)
	require.Equal(t, "There is no Snapshot snap-1; create it, or delete this Backup.", v.Message)
}

func TestASnapshotThatNamesNoVolumeIsReported(t *testing.T) {
	v := Decide(world(func(w *World) {
		w.Snapshot.Spec.Volume, w.Volume, w.Backup.Labels = "", nil, map[string]string{v1beta2.LabelBackupVolume: v1beta2.LabelValue("")}
	}))
	require.Equal(t, v1beta2.ReasonVolumeNotFound, v.Reason)
	require.Equal(t, "Snapshot snap-1 names no volume; delete this Backup, and the Snapshot.", v.Message)
}

// The label names the volume of data that may be in a target already: it is put right only before anything was begun.
func TestTheLabelOfABackupThatWasBegunStays(t *testing.T) {
	another := func(w *World) { w.Backup.Labels[v1beta2.LabelBackupVolume] = "another" }
	require.Equal(t, StepRepair, Decide(world(holdsTicket, another)).Step)
	begun := func(w *World) { w.Backup.Status.VolumeName = "vol-1" }
	require.NotEqual(t, StepRepair, Decide(world(holdsTicket, another, begun)).Step)
	require.Equal(t, StepRepair, Decide(world(holdsTicket, begun, unfinalized)).Step, "the finalizer is needed as long as it is there")
	require.NotEqual(t, StepRepair, Decide(world(another, func(w *World) { w.Snapshot = nil })).Step, "no one knows which one is right")
}

func TestWhatWasBegunContinuesWhileTheVolumeMoves(t *testing.T) {
	moves := func(w *World) {
		w.Volume.Spec.MigrationNodeID, w.Volume.Status.CurrentMigrationNodeID = "node-2", "node-2"
	}
	require.Equal(t, v1beta2.ReasonWaitingForAttach, Decide(world(holdsTicket, moves)).Reason)
	require.Equal(t, v1beta2.ReasonReady, Decide(world(holdsTicket, moves, state(v1beta2.BackupInProgress))).Reason)
}

func TestAVolumeIsAttachedWhereItsEngineServes(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*World)
		want   bool
	}{
		"it serves": {func(*World) {}, true},
		"another state of the volume, whose engine still runs": {func(w *World) { w.Volume.Status.State = v1beta2.VolumeStateDetaching }, false},
		"no engine":                  {func(w *World) { w.Engine = nil }, false},
		"an engine that starts":      {func(w *World) { w.Engine.Status.CurrentState = v1beta2.InstanceStateStarting }, false},
		"one that is not heard of":   {func(w *World) { w.Engine.Status.CurrentState = v1beta2.InstanceStateUnknown }, false},
		"one that failed meanwhile":  {func(w *World) { w.Engine.Status.CurrentState = v1beta2.InstanceStateError }, false},
		"detached and stopped alike": {detached, false},
	} {
		w := world(holdsTicket, c.change)
		require.Equal(t, c.want, w.attached(), sentence)
		require.Equal(t, c.want, Decide(w).Reason == v1beta2.ReasonReady, sentence)
	}
}

// The VolumeAttachment answers a ticket: only an answer to this very one, which is yes, keeps the volume attached.
func TestOnlyAGrantedTicketHoldsTheVolume(t *testing.T) {
	answer := func(change func(*v1beta2.AttachmentTicketStatus)) World {
		w := world(holdsTicket)
		id := TicketID("backup-1")
		s := w.Attachment.Status.AttachmentTicketStatuses[id]
		change(&s)
		w.Attachment.Status.AttachmentTicketStatuses[id] = s
		return w
	}
	require.True(t, answer(func(*v1beta2.AttachmentTicketStatus) {}).granted())
	require.False(t, answer(func(s *v1beta2.AttachmentTicketStatus) { s.Generation-- }).granted())
	require.False(t, answer(func(s *v1beta2.AttachmentTicketStatus) { s.Conditions = nil }).granted())
	require.False(t, answer(func(s *v1beta2.AttachmentTicketStatus) { s.Conditions[0].Status = v1beta2.ConditionFalse }).granted())
	require.False(t, world().granted())
	v := Decide(world(func(w *World) { w.Candidate = "" }))
	require.Equal(t, v1beta2.ReasonReady, v.Reason, "where no ticket can be had, an attached volume is as good")
	require.Nil(t, v.Ticket)
}

func TestATicketFollowsWhatIsNeeded(t *testing.T) {
	w := world(holdsTicket, approved)
	w.Backup.Status.Conditions = []v1beta2.Condition{Decide(w).Condition}
	require.Equal(t, StepNone, Decide(w).Step, "it stays as long as it is needed")
	require.Equal(t, map[string]string{v1beta2.TicketDisableFrontend: v1beta2.TicketValueAny, v1beta2.TicketOwnerKind: "Backup",
		v1beta2.TicketOwnerName: "backup-1", v1beta2.TicketOwnerUID: "b-uid"}, Decide(w).Ticket.Parameters)
	w.Candidate = "node-2"
	v := Decide(w)
	require.Equal(t, StepTakeTicket, v.Step, "another node can take the volume")
	require.Equal(t, "node-2", v.Ticket.NodeID)
	require.Equal(t, w.ticket().Generation+1, v.Ticket.Generation)

	w = world(holdsTicket, func(w *World) { w.Target = nil })
	var steps []Step
	for range 3 {
		v := Decide(w)
		steps, w = append(steps, v.Step), done(w, v)
	}
	require.Equal(t, []Step{StepSay, StepDropTicket, StepNone}, steps, "why it is given back is reported first")
}

func TestTheNodeOfATicketIsNotMixedUpWithTheGenerationOfItsAnswer(t *testing.T) {
	of := func(node string, generation int64) *v1beta2.VolumeAttachment {
		a, id := &v1beta2.VolumeAttachment{}, TicketID("backup-1")
		a.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{id: {ID: id, Type: v1beta2.AttacherBackup, NodeID: node}}
		a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{id: {ID: id, Generation: generation}}
		return a
	}
	require.True(t, TicketsDiffer(of("node-1", 11), of("node-11", 1)))
	require.False(t, TicketsDiffer(of("node-1", 11), of("node-1", 11)))
	require.False(t, TicketsDiffer(&v1beta2.VolumeAttachment{}, &v1beta2.VolumeAttachment{}))
}

// A Backup that was approved before the node was cordoned, and not begun, waits again: its upgrade waits only for what was begun.
func TestAnUpgradeTakesBackWhatWasNotBegun(t *testing.T) {
	w := world(v2, holdsTicket)
	w = done(w, Decide(w))
	require.Equal(t, v1beta2.ConditionTrue, w.Backup.Status.Conditions[0].Status)
	begun := w
	upgrading(&w)
	var steps []Step
	for range 3 {
		v := Decide(w)
		steps, w = append(steps, v.Step), done(w, v)
	}
	require.Equal(t, []Step{StepSay, StepDropTicket, StepNone}, steps)
	require.Equal(t, v1beta2.ConditionFalse, w.Backup.Status.Conditions[0].Status)
	require.Equal(t, "The data engine under volume vol-1 is being upgraded: it uses node node-3, which is under upgrade; "+
		"the backup begins when that is done.", w.Backup.Status.Conditions[0].Message)
	relocated(&w)
	require.Equal(t, "The data engine under volume vol-1 is being upgraded: its target is relocated to node node-2 (if no upgrade is "+
		"under way, clear spec.targetNodeID); the backup begins when that is done.", Decide(w).Message)

	begun.Backup = begun.Backup.DeepCopy()
	begun.Backup.Status.State = v1beta2.BackupPending
	upgrading(&begun)
	require.Equal(t, StepNone, Decide(begun).Step, "what was begun keeps its approval and its ticket")

	w.Nodes, w.Volume.Spec.TargetNodeID = nil, ""
	require.Equal(t, v1beta2.ReasonWaitingForAttach, Decide(w).Reason, "afterwards it begins again from the ticket on")
}
