package backuplist

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Progress is how far this process is with the removal of an object's data.
type Progress struct {
	// Running reports whether the removal is under way, Gone whether the target was seen without the data afterwards.
	Running, Gone bool
	// Note is what else there is to say about a removal that came to its end.
	Note string
	// Problem is why the last attempt failed, and Again when the next attempt is due.
	Problem string
	Again   time.Time
}

// EndWorld is everything that is known of a BackupVolume that is being deleted.
type EndWorld struct {
	Now    time.Time
	Volume *v1beta2.BackupVolume
	// Target is its BackupTarget; nil: there is none. Backups describe what the target has of the volume.
	Target  *v1beta2.BackupTarget
	Backups []*v1beta2.Backup
	// Uninstalled is why all objects are being deleted; empty: they are not. Busy is who writes to, or reads from, what the target has of the
	// volume; empty: nobody.
	Uninstalled, Busy string
	Progress
}

// EndStep is the next write, or call, for a BackupVolume that is being deleted.
type EndStep string

// The steps.
const (
	EndNone EndStep = "None"
	// EndForget deletes the Backups of the volume, and leaves the target alone.
	EndForget EndStep = "ForgetBackups"
	// EndRemove has all removed that the target has of the volume, and EndSay writes why that does not succeed.
	EndRemove        EndStep = "Remove"
	EndSay           EndStep = "Say"
	EndDropFinalizer EndStep = "DropFinalizer"
)

// End is what to do now.
type End struct {
	Step    EndStep
	Message string
	// Enqueue is when time alone changes the verdict; zero: never.
	Enqueue time.Time
}

// busyPause is the pause between two looks whether somebody still uses what is to be removed.
const busyPause = 30 * time.Second

// DecideEnd returns what to do about a BackupVolume that is being deleted. Its data goes first, then its Backups, then the object.
func DecideEnd(w EndWorld) End {
	name := VolumeOf(w.Volume)
	why := w.keepsData()
	switch {
	case why == "" && !w.Gone:
		return w.removeData(name)
	case len(w.Unforgotten()) > 0:
		return End{Step: EndForget, Message: "The Backups of volume " + name + " go, and the target is left alone."}
	case why != "":
		return End{Step: EndDropFinalizer, Message: why + ": what the target has of volume " + name + " stays there."}
	}
	return End{Step: EndDropFinalizer, Message: "All that BackupTarget " + w.Target.Name + " had of volume " + name + " was removed."}
}

func (w EndWorld) removeData(name string) End {
	switch {
	case w.Running:
		return End{Step: EndNone}
	case w.Busy != "":
		return w.say(w.Busy+"; all that the target has of volume "+name+" is removed after that.", w.Now.Add(busyPause))
	case w.Problem != "" && w.Now.Before(w.Again):
		return w.say("What the target has of volume "+name+" could not be removed: "+w.Problem+". It is tried again. To let the object go and "+
			"leave the data, set the label "+v1beta2.LabelObjectOnly+" on it.", w.Again)
	}
	return End{Step: EndRemove, Message: "Removing all that the target has of volume " + name + "."}
}

// MessageError is the key of the message that shows why a BackupVolume stays.
const MessageError = "error"

func (w EndWorld) say(message string, at time.Time) End {
	out := End{Step: EndSay, Message: message, Enqueue: at}
	if w.Volume.Status.Messages[MessageError] == message {
		out.Step = EndNone
	}
	return out
}

// keepsData returns why only objects go, and what is in a target stays there; empty: the data goes first.
func (w EndWorld) keepsData() string {
	v, target := w.Volume, TargetOf(w.Volume)
	switch {
	case IsObjectOnly(v.Labels):
		return "It has the label " + v1beta2.LabelObjectOnly
	case w.Uninstalled != "":
		return w.Uninstalled
	case w.Target == nil || w.Target.DeletionTimestamp != nil:
		return "There is no BackupTarget " + target + " any more"
	case w.Target.Spec.BackupTargetURL == "":
		return "BackupTarget " + target + " has no URL any more"
	case v.Status.TargetURL == "":
		return "It was never found in BackupTarget " + target + " by this controller"
	case v.Status.TargetURL != w.Target.Spec.BackupTargetURL:
		return "BackupTarget " + target + " has another URL now"
	}
	return ""
}

// Unforgotten returns the Backups of the volume that are still to be deleted.
func (w EndWorld) Unforgotten() []*v1beta2.Backup {
	var out []*v1beta2.Backup
	for _, b := range w.Backups {
		stored := b.Status.State == v1beta2.BackupCompleted || b.Status.State == v1beta2.BackupDeleting
		if stored && (b.DeletionTimestamp == nil || !IsObjectOnly(b.Labels)) {
			out = append(out, b)
		}
	}
	return out
}

// OfVolume are those of a target's Backups that describe what it has of a BackupVolume's volume.
func OfVolume(v *v1beta2.BackupVolume, backups []*v1beta2.Backup) []*v1beta2.Backup {
	var out []*v1beta2.Backup
	for _, b := range backups {
		if b.Status.VolumeName != VolumeOf(v) || TargetOfBackup(b) != TargetOf(v) {
			continue
		}
		if v.Status.TargetURL != "" && b.Status.URL != "" && !v1beta2.LiesInTarget(b.Status.URL, v.Status.TargetURL) {
			continue
		}
		out = append(out, b)
	}
	return out
}
