package csisnapshot

import (
	"cmp"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

// find reports about a content that names a snapshot what is there.
func (w World) find() Verdict {
	text := cmp.Or(w.Content.SnapshotHandle, w.Content.Status.Handle)
	h, ok := volumesnapshot.ParseHandle(text)
	switch {
	case !ok:
		return w.err(OutcomeRefused, fmt.Sprintf("snapshot handle %q is neither snap://<volume>/<snapshot> nor bak://<volume>/<backup>",
			text))
	case h.Kind == volumesnapshot.KindBackup:
		return w.ofBackup(h)
	}
	s := w.Snapshot
	if s == nil || s.Spec.Volume != h.Volume {
		return w.err(OutcomeMissing, fmt.Sprintf("there is no Snapshot %s of volume %s", h.Name, h.Volume))
	}
	status := w.status(h, s.Status.CreationTime, s.Status.RestoreSize)
	status.Ready = taken(s) && s.DeletionTimestamp == nil
	switch {
	case status.Ready:
		return w.report(OutcomeReady, status)
	case s.DeletionTimestamp != nil:
		status.Error = fmt.Sprintf("Snapshot %s is being deleted", s.Name)
	default:
		status.Error = fmt.Sprintf("Snapshot %s is not ready: %s", s.Name, condition(s.Status.Conditions, v1beta2.SnapshotReady))
	}
	return w.report(OutcomeTaking, status)
}

// ofBackup states how far the backup is.
func (w World) ofBackup(h volumesnapshot.Handle) Verdict {
	b := w.Backup
	if b == nil || b.Status.VolumeName != "" && b.Status.VolumeName != h.Volume {
		return w.err(OutcomeMissing, fmt.Sprintf("there is no Backup %s of volume %s", h.Name, h.Volume))
	}
	status := w.status(h, cmp.Or(b.Status.SnapshotCreatedAt, b.Status.BackupCreatedAt), v1beta2.BytesOf(b.Status.VolumeSize))
	switch {
	case b.DeletionTimestamp != nil:
		status.Error = fmt.Sprintf("Backup %s is being deleted", b.Name)
		return w.report(OutcomeFailed, status)
	case b.Status.State == v1beta2.BackupCompleted:
		status.Ready = true
		return w.report(OutcomeReady, status)
	case b.Status.State == v1beta2.BackupError:
		status.Error = fmt.Sprintf("Backup %s failed: %s; delete this VolumeSnapshot and take another", b.Name, b.Status.Error)
		return w.report(OutcomeFailed, status)
	case v1beta2.IsBackupBegun(b):
		return w.report(OutcomeUploading, status)
	}
	v := w.waits(OutcomeUploading, b.CreationTimestamp.Time, "Backup "+b.Name, condition(b.Status.Conditions, v1beta2.BackupApproved))
	status.Error = v.Status.Error
	verdict := w.report(OutcomeUploading, status)
	verdict.RequeueAt = v.RequeueAt
	return verdict
}

// status is what is known of it; what was reported once stays.
func (w World) status(h volumesnapshot.Handle, created string, size int64) Status {
	was := w.Content.Status
	out := Status{Handle: h.String(), CreationTime: was.CreationTime, RestoreSize: cmp.Or(was.RestoreSize, size)}
	if out.CreationTime == 0 && created != "" {
		out.CreationTime = w.nanoseconds(created)
	}
	return out
}
