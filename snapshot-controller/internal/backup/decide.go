package backup

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Decide returns the next write, or none.
func Decide(w World) Verdict {
	switch {
	case w.deleting():
		return w.end()
	case w.isExpired():
		return Verdict{Step: StepDelete, Reason: "Expired", Message: fmt.Sprintf("It failed more than %s ago.", w.FailedTTL)}
	case w.failed():
		return w.wait(v1beta2.ReasonFailed, "The copy failed; status.error has the engine's answer. Create another Backup.")
	case w.endsStall():
		before := conditions.Get(w.Backup.Status.Conditions, v1beta2.BackupApproved)
		return Verdict{Step: StepSay, Condition: *cmp.Or(before, &v1beta2.Condition{Type: v1beta2.BackupApproved,
			Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady}), Reason: "Ended", Message: "The copy has ended."}
	case w.Backup.Spec.SnapshotName == "" && w.Backup.Status.State == "":
		return w.namesNone()
	case w.Backup.Spec.SnapshotName == "" || v1beta2.IsBackupEnded(w.Backup):
		v := w.done("Ended", "Nothing is to be done for it.")
		v.Enqueue = w.expiresAt()
		return v
	case w.unrepaired():
		return Verdict{Step: StepRepair, Reason: "Repaired", Message: "Label and finalizer are put right."}
	}
	for _, rule := range rules {
		if reason, message := rule(w); reason != "" {
			return w.wait(reason, message)
		}
	}
	if problem, retry := w.targetProblem(); problem != "" && !v1beta2.IsBackupBegun(w.Backup) {
		v := w.wait(v1beta2.ReasonTargetUnavailable, problem)
		v.Enqueue = retry
		return v
	}
	return w.attach()
}

// statusComes is for how long longhorn-manager may take to report of a Backup that it made of what a target has.
const statusComes = time.Minute

// namesNone is about a Backup that names no Snapshot, and of which nothing is reported.
func (w World) namesNone() Verdict {
	if due := w.Backup.CreationTimestamp.Add(statusComes); w.Now.Before(due) {
		v := w.done("Ended", "Nothing is to be done for it.")
		v.Enqueue = due
		return v
	}
	return w.wait(v1beta2.ReasonSnapshotNotReady, "spec.snapshotName is empty: name the Snapshot to back up there, or delete this Backup.")
}

// failed reports whether the backup ended in error and its condition still reports that it may be taken, which kubectl shows as WHY.
func (w World) failed() bool {
	return w.Backup.Status.State == v1beta2.BackupError && conditions.IsTrue(w.Backup.Status.Conditions, v1beta2.BackupApproved)
}

// rules are what stands against the backup, however long the volume is attached; the first that speaks wins.
var rules = []func(World) (reason, message string){
	World.noVolume,
	World.filling,
	World.noSnapshot,
	World.migrating,
	World.upgrading,
}

// noVolume comes first where it is known which volume is meant: without it there is no snapshot either.
func (w World) noVolume() (reason, message string) {
	name := w.volumeName()
	switch {
	case name == "" && w.Snapshot != nil:
		return v1beta2.ReasonVolumeNotFound, "Snapshot " + w.Snapshot.Name + " names no volume; delete this Backup, and the Snapshot."
	case name == "" || w.volume() != nil:
		return "", ""
	}
	return v1beta2.ReasonVolumeNotFound, "Volume " + name + " is gone, or is being deleted; delete this Backup, unless it is completed."
}

// filling: what is in a volume that gets its data from elsewhere is not whole.
func (w World) filling() (reason, message string) {
	if w.Volume == nil || v1beta2.IsBackupBegun(w.Backup) {
		return "", ""
	}
	return snapshot.Filling(w.Volume)
}

// noSnapshot: one that was not seen since the volume was detached is searched for by attaching it. What was begun continues
// without.
func (w World) noSnapshot() (reason, message string) {
	s, name := w.Snapshot, w.Backup.Spec.SnapshotName
	switch {
	case s == nil:
		return v1beta2.ReasonSnapshotNotReady, "There is no Snapshot " + name + "; create it, or delete this Backup."
	case v1beta2.IsBackupBegun(w.Backup):
		return "", ""
	case s.DeletionTimestamp != nil:
		return v1beta2.ReasonSnapshotNotReady, "Snapshot " + name + " is being deleted; delete this Backup, too."
	case w.isReady():
		return "", ""
	}
	why := conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady)
	if why == "" {
		why = "nothing is reported of it yet"
	}
	return v1beta2.ReasonSnapshotNotReady, "Snapshot " + name + " is not ready: " + why + "; see the Snapshot."
}

// isReady reports whether the snapshot can be copied, or is waited for with the ticket: attached for it, the volume's engine is about
// to show what was last seen before.
func (w World) isReady() bool {
	seenBefore := conditions.Reason(w.Snapshot.Status.Conditions, v1beta2.SnapshotReady) == v1beta2.ReasonVolumeDetached
	return w.isShown() || seenBefore && (!w.attached() || w.ticket() != nil)
}

func (w World) isShown() bool {
	return conditions.IsTrue(w.Snapshot.Status.Conditions, v1beta2.SnapshotReady)
}

func (w World) migrating() (reason, message string) {
	if v := w.Volume; v1beta2.IsBackupBegun(w.Backup) || v.Spec.MigrationNodeID == "" && v.Status.CurrentMigrationNodeID == "" {
		return "", ""
	}
	return v1beta2.ReasonWaitingForAttach, "Volume " + w.Volume.Name + " moves to another node; it is taken when that is done."
}

// upgrading: the engine that would be asked ends when the target switches back, and a replica that would copy leaves it. The upgrade waits
// for what was begun before it.
func (w World) upgrading() (reason, message string) {
	if w.Volume.Spec.DataEngine != v1beta2.DataEngineV2 || v1beta2.IsBackupBegun(w.Backup) {
		return "", ""
	}
	what := snapshot.Upgrading(w.Volume, w.Nodes...)
	if what == "" {
		return "", ""
	}
	return v1beta2.ReasonUpgrading, "The data engine under volume " + w.Volume.Name + " is being upgraded: " + what +
		"; the backup begins when that is done."
}

// attach leads the volume to be attached, and then approves.
func (w World) attach() Verdict {
	ticket := w.wanted()
	if !w.attached() {
		return w.report(v1beta2.ReasonWaitingForAttach, w.attachProblem(), ticket)
	}
	if ticket != nil && !w.granted() && !v1beta2.IsBackupBegun(w.Backup) {
		// Who has it attached now may let it go before the ticket is seen, and the engine would begin for nothing.
		return w.report(v1beta2.ReasonWaitingForAttach, "Volume "+w.Volume.Name+
			" is attached; its VolumeAttachment does not show yet that it stays.", ticket)
	}
	if !v1beta2.IsBackupBegun(w.Backup) && !w.isShown() {
		return w.report(v1beta2.ReasonWaitingForAttach, "Volume "+w.Volume.Name+" is attached; its engine has to show snapshot "+
			w.Snapshot.Name+", which was last seen before.", ticket)
	}
	return w.report(v1beta2.ReasonReady, fmt.Sprintf("Nothing stands against taking it; it goes to BackupTarget %s.", w.TargetName), ticket)
}

// unrepaired reports whether the finalizer is missing, or that the label does not name the snapshot's volume.
func (w World) unrepaired() bool {
	b := w.Backup
	return !slices.Contains(b.Finalizers, v1beta2.Finalizer) ||
		w.Snapshot != nil && b.Status.VolumeName == "" && b.Labels[v1beta2.LabelBackupVolume] != v1beta2.LabelValue(w.Snapshot.Spec.Volume)
}

// end lets the object go: the ticket first, with which the engine ends that serves no one else; then the data once no engine copies: none
// can be stopped, and the data of the snapshot must stay as long; and the finalizer last.
func (w World) end() Verdict {
	v := Verdict{Step: StepNone, Reason: "BackupEnded", Message: "It was deleted."}
	switch {
	case w.ticket() != nil:
		v.Step = StepDropTicket
	case w.copied():
		return w.wait(v1beta2.ReasonBackingUp, "It was deleted, and engine "+w.Engine.Name+
			" still copies it: it goes when that has ended, or volume "+w.Engine.Spec.VolumeName+" is detached.")
	case slices.Contains(w.Backup.Finalizers, v1beta2.Finalizer):
		return w.remove()
	}
	return v
}

// copied reports whether an engine may be copying: one that was asked, and that is not known to have ended since.
func (w World) copied() bool {
	if w.Engine == nil || !v1beta2.IsBackupBegun(w.Backup) {
		return false
	}
	state := w.Engine.Status.CurrentState
	return state == v1beta2.InstanceStateRunning || state == v1beta2.InstanceStateUnknown
}

// wait explains why nothing can be done, and holds nothing.
func (w World) wait(reason, message string) Verdict { return w.report(reason, message, nil) }

// done drops a ticket that nothing needs any more.
func (w World) done(reason, message string) Verdict {
	v := Verdict{Step: StepNone, Reason: reason, Message: message}
	if w.ticket() != nil {
		v.Step = StepDropTicket
	}
	return v
}

// report makes what is missing of the condition, and of the ticket, the verdict. A ticket that is needed comes before the
// condition that reports it; one that is not goes after the condition that explains why.
func (w World) report(reason, message string, ticket *v1beta2.AttachmentTicket) Verdict {
	status := v1beta2.ConditionFalse
	if reason == v1beta2.ReasonReady {
		status = v1beta2.ConditionTrue
	}
	c := v1beta2.Condition{Type: v1beta2.BackupApproved, Status: status, Reason: reason, Message: message,
		ObservedGeneration: w.Backup.Generation}
	own := conditions.Owned(w.Backup.Status.Conditions, v1beta2.BackupApproved, v1beta2.BackupProgressing)
	wanted := w.reportProgress(conditions.Set(own, c, w.Now))
	v := Verdict{Step: StepNone, Ticket: ticket, Condition: *conditions.Get(wanted, v1beta2.BackupApproved),
		Stall: conditions.Get(wanted, v1beta2.BackupProgressing), Reason: reason, Message: message}
	if at := w.stalledAt(); w.Now.Before(at) {
		v.Enqueue = at
	}
	held := w.ticket()
	switch {
	case ticket != nil && (held == nil || !snapshot.SameTicket(*held, *ticket)):
		v.Step = StepTakeTicket
	case !conditions.Equal(own, wanted):
		v.Step = StepSay
	case ticket == nil && held != nil:
		v.Step = StepDropTicket
	}
	return v
}
