package backup

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/text"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
)

// Removal is what is known of the end of a Backup's data. The target is that of the World.
type Removal struct {
	// OwnerEnds is why the Backup goes with its BackupVolume and not because somebody deletes it; empty: it does not.
	OwnerEnds string
	// Uninstalled is why objects go that nobody wants to be without their data; empty: they do not.
	Uninstalled string
	// Restoring is the volume that is being filled from it; empty: none is.
	Restoring string
	backuplist.Progress
}

// looksAgain is the pause between two looks whether a volume is still being filled from the backup.
const looksAgain = 30 * time.Second

// remove has the data removed from the target, and then lets the object go.
func (w World) remove() Verdict {
	r := w.Removal
	switch why := w.keepsData(); {
	case why != "":
		return Verdict{Step: StepDropFinalizer, Reason: "BackupEnded", Message: why}
	case r.Gone:
		return Verdict{Step: StepDropFinalizer, Reason: "BackupEnded",
			Message: cmp.Or(r.Note, "Its data was removed from BackupTarget "+w.TargetName+".")}
	case r.Running:
		return w.wait(v1beta2.ReasonRemoving, "Its data is being removed from BackupTarget "+w.TargetName+
			"; with many blocks in the target that takes a while.")
	case r.Restoring != "":
		v := w.wait(v1beta2.ReasonRestoring, "Volume "+r.Restoring+" is being filled from it; its data is removed when that is done.")
		v.Enqueue = w.Now.Add(looksAgain)
		return v
	case r.Problem != "" && w.Now.Before(r.Again):
		v := w.wait(v1beta2.ReasonRemovalFailed, fmt.Sprintf("Its data could not be removed from BackupTarget %s: %s It is tried again. "+
			"To let the object go and leave the data, set the label %s on it.", w.TargetName, text.Sentence(r.Problem), v1beta2.LabelObjectOnly))
		v.Enqueue = r.Again
		return v
	case w.Backup.Status.State != v1beta2.BackupDeleting:
		return Verdict{Step: StepMarkDeleting, Reason: v1beta2.ReasonRemoving, Message: "Its data is about to be removed."}
	}
	return Verdict{Step: StepRemove, Reason: v1beta2.ReasonRemoving, Message: "Removing its data from BackupTarget " + w.TargetName + "."}
}

// keepsData returns why only the object goes, and what is in a target stays there; empty: the data goes first.
func (w World) keepsData() string {
	b, r := w.Backup, w.Removal
	at := cmp.Or(b.Status.URL, "BackupTarget "+w.TargetName)
	stays := ": its data stays in the target, as " + at + "."
	switch {
	case b.Status.URL == "" && !wasAsked(b) && !v1beta2.IsBackupBegun(b):
		return "Nothing was copied for it."
	case backuplist.IsObjectOnly(b.Labels):
		return "It has the label " + v1beta2.LabelObjectOnly + stays
	case r.Uninstalled != "":
		return r.Uninstalled + stays
	case r.OwnerEnds != "":
		return r.OwnerEnds + stays
	case v1beta2.IsBackupBegun(b):
		return "The engine was at it: what it copied stays in BackupTarget " + w.TargetName +
			", perhaps all of it; a reading of the target shows it if it is whole."
	case w.Target == nil || w.Target.DeletionTimestamp != nil:
		return "There is no BackupTarget " + w.TargetName + " any more" + stays
	case w.Target.Spec.BackupTargetURL == "":
		return "BackupTarget " + w.TargetName + " has no URL any more" + stays
	case b.Status.URL != "" && !v1beta2.LiesInTarget(b.Status.URL, w.Target.Spec.BackupTargetURL):
		return "BackupTarget " + w.TargetName + " has another URL now" + stays
	case b.Status.VolumeName == "":
		return "It does not name its volume" + stays
	}
	return ""
}

// wasAsked reports whether an engine was asked for it, and may have left something in the target.
func wasAsked(b *v1beta2.Backup) bool {
	switch b.Status.State {
	case v1beta2.BackupError, v1beta2.BackupDeleting:
		return b.Status.EngineRun != ""
	}
	return false
}

// isExpired reports whether the Backup failed so long ago that it goes by itself.
func (w World) isExpired() bool {
	at := w.expiresAt()
	return !at.IsZero() && !w.Now.Before(at)
}

// expiresAt is when a Backup that failed goes by itself; zero: it did not fail, or stays.
func (w World) expiresAt() time.Time {
	s := w.Backup.Status
	if s.State != v1beta2.BackupError || w.FailedTTL <= 0 {
		return time.Time{}
	}
	ended, err := time.Parse(time.RFC3339, s.ProgressedAt)
	if err != nil {
		ended = w.Backup.CreationTimestamp.Time
	}
	return ended.Add(w.FailedTTL)
}

// InURL returns the names of the backup and of the volume that the URL of a backup has.
func InURL(backupURL string) (backup, volume string) {
	_, query, _ := strings.Cut(backupURL, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", ""
	}
	return values.Get("backup"), values.Get("volume")
}

// IsFilledFrom reports whether a volume is being filled from this backup. engine is the volume's, nil if it has none.
func IsFilledFrom(b *v1beta2.Backup, v *v1beta2.Volume, engine *v1beta2.Engine) bool {
	name, volume := InURL(v.Spec.FromBackup)
	if volume == "" || volume != b.Status.VolumeName || v.DeletionTimestamp != nil {
		return false
	}
	if at, _, _ := strings.Cut(v.Spec.FromBackup, "?"); b.Status.URL != "" && !v1beta2.LiesInTarget(b.Status.URL, at) {
		return false
	}
	if engine != nil && engine.Spec.RequestedBackupRestore != engine.Status.LastRestoredBackup {
		return engine.Spec.RequestedBackupRestore == b.Name
	}
	return name == b.Name && (v.Status.RestoreRequired || v.Status.State == "")
}
