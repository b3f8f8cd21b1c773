package csisnapshot

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/volumesnapshot"
)

// patience is how long a snapshot may take before the content states what it waits for.
const patience = time.Minute

// take leads a content that names a volume to its snapshot, and to the backup of it.
func (w World) take() Verdict {
	c := w.Content
	if c.Status.Handle != "" {
		return w.upload()
	}
	if problem := w.refusal(); problem != "" {
		return w.err(OutcomeRefused, problem)
	}
	_, name, _ := c.Names()
	switch s := w.Snapshot; {
	case s != nil && s.Spec.Volume != c.VolumeHandle:
		return w.err(OutcomeRefused, fmt.Sprintf("Snapshot %s is of volume %s; delete it, or this VolumeSnapshot", name, s.Spec.Volume))
	case s != nil && s.DeletionTimestamp != nil:
		return w.err(OutcomeRefused, fmt.Sprintf("Snapshot %s is being deleted; it is taken again once it is gone", name))
	case s != nil && reason(s) == v1beta2.ReasonFailed:
		return w.failed()
	case s != nil && taken(s):
		return w.taken()
	case !c.BeingCreated:
		return Verdict{Step: StepMark, Outcome: OutcomeTaking}
	case s == nil:
		return Verdict{Step: StepCreateSnapshot, Outcome: OutcomeTaking}
	}
	return w.waits(OutcomeTaking, w.Snapshot.CreationTimestamp.Time, "Snapshot "+name,
		condition(w.Snapshot.Status.Conditions, v1beta2.SnapshotReady))
}

// refusal returns what a person has to put right before anything is asked for.
func (w World) refusal() string {
	c := w.Content
	switch {
	case c.SnapshotUID == "":
		return fmt.Sprintf("VolumeSnapshotContent %s is not bound to a VolumeSnapshot", c.Name)
	case c.ClassName == "":
		return fmt.Sprintf("VolumeSnapshotContent %s names no VolumeSnapshotClass, whose parameter type states what to take", c.Name)
	case w.Class == nil:
		return fmt.Sprintf("VolumeSnapshotClass %s does not exist", c.ClassName)
	case w.kind() == "":
		return fmt.Sprintf("VolumeSnapshotClass %s has type %q: snap and bak can be taken", c.ClassName, w.Class.Type)
	case w.Class.BackupMode != "" && w.Class.BackupMode != backupFull && w.Class.BackupMode != backupIncremental:
		return fmt.Sprintf("VolumeSnapshotClass %s has backupMode %q: it can be full or incremental", c.ClassName, w.Class.BackupMode)
	case w.Volume == nil:
		return fmt.Sprintf("there is no volume %s", c.VolumeHandle)
	case w.Volume.DeletionTimestamp != nil:
		return fmt.Sprintf("volume %s is being deleted", c.VolumeHandle)
	}
	return ""
}

// kind is what the class asks for; empty: nothing that there is.
func (w World) kind() volumesnapshot.Kind {
	switch k := volumesnapshot.Kind(w.Class.Type); k {
	case "", volumesnapshot.KindOldBackup:
		return volumesnapshot.KindBackup
	case volumesnapshot.KindSnapshot, volumesnapshot.KindBackup:
		return k
	}
	return ""
}

// failed explains why. The engine is asked again for the same Snapshot.
func (w World) failed() Verdict {
	if w.Content.BeingCreated {
		return Verdict{Step: StepUnmark, Outcome: OutcomeFailed}
	}
	return w.err(OutcomeFailed, w.Snapshot.Status.Error)
}

// taken makes the snapshot the content's, or backs it up.
func (w World) taken() Verdict {
	volume, snapshot, backup := w.Content.Names()
	status := Status{
		Handle: volumesnapshot.Handle{Kind: volumesnapshot.KindSnapshot, Volume: volume, Name: snapshot}.String(), Ready: true,
		CreationTime: w.nanoseconds(w.Snapshot.Status.CreationTime), RestoreSize: w.Snapshot.Status.RestoreSize,
	}
	if w.kind() == volumesnapshot.KindSnapshot {
		return w.report(OutcomeReady, status)
	}
	if w.Backup == nil {
		return Verdict{Step: StepCreateBackup, Outcome: OutcomeUploading}
	}
	status.Handle, status.Ready = volumesnapshot.Handle{Kind: volumesnapshot.KindBackup, Volume: volume, Name: backup}.String(), false
	if status.RestoreSize == 0 {
		status.RestoreSize = w.Volume.Spec.Size
	}
	return w.report(OutcomeUploading, status)
}

// upload follows the backup; the snapshot was answered for.
func (w World) upload() Verdict {
	if w.Content.BeingCreated {
		return w.settled(OutcomeUploading)
	}
	h, ok := volumesnapshot.ParseHandle(w.Content.Status.Handle)
	if !ok || h.Kind != volumesnapshot.KindBackup {
		return w.find()
	}
	return w.ofBackup(h)
}

// waits returns what is being waited for once that takes long.
func (w World) waits(outcome Outcome, since time.Time, what, why string) Verdict {
	if due := since.Add(patience); w.Now.Before(due) {
		v := w.err(outcome, "")
		v.RequeueAt = due
		return v
	}
	return w.err(outcome, what+" is waiting: "+why)
}

func (w World) nanoseconds(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at = w.Now
	}
	return at.UnixNano()
}

// taken reports whether the snapshot is there and can be used.
func taken(s *v1beta2.Snapshot) bool { return s.Status.CreationTime != "" && s.Status.ReadyToUse }

func reason(s *v1beta2.Snapshot) string {
	return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady)
}

// condition is a condition in words; who has none was not checked yet.
func condition(list []v1beta2.Condition, conditionType string) string {
	c := conditions.Get(list, conditionType)
	if c == nil {
		return "it was not evaluated yet"
	}
	return c.Reason + ": " + c.Message
}
