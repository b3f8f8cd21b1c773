package recurring

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// World is everything that is known of one RecurringJob.
type World struct {
	Now time.Time
	Job *v1beta2.RecurringJob
	// Volumes has each volume that the job is for and that the run has not finished with; others are not checked. Of
	// many, as many as are worked on at once are enough.
	Volumes []*v1beta2.Volume
	// Sources has the claims' labels of those volumes whose claim names their jobs.
	Sources Sources
	// Snapshots has each Snapshot of these volumes that names the job in its labels, and of all volumes those of
	// the job that are not taken yet. For a job that removes it has each Snapshot of these volumes.
	Snapshots []*v1beta2.Snapshot
	// Backups has, in the same way, the Backups that name the job, and those that have not ended.
	Backups []*v1beta2.Backup
	// WhileDetached reports whether detached volumes are attached for runs; else runs pass them over.
	WhileDetached bool
	// Created has when this process created Snapshots of the run that is under way, by their names: the cache may not show them yet.
	Created map[string]time.Time
	// PassedOver has a sentence about each volume that the run passed over, because its deleted Snapshots or Backups remain (Paused).
	PassedOver []string
	// Shared has the names of Snapshots whose data linked clones share.
	Shared map[string]bool
}

// Verdict is what to do now, in this order.
type Verdict struct {
	// Write reports whether the job's status differs from Status, which is every field that is this controller's.
	Write  bool
	Status v1beta2.RecurringJobStatus
	// Create are Snapshots to ask for.
	Create []*v1beta2.Snapshot
	// BackUp are Backups to ask for.
	BackUp []*v1beta2.Backup
	// Delete and DeleteBackups are what is to go.
	Delete        []*v1beta2.Snapshot
	DeleteBackups []*v1beta2.Backup
	// Enqueue is when time alone changes the verdict; zero: never.
	Enqueue time.Time
	// Reason and Message are those of the job's condition.
	Reason, Message string
}

// JobOf is the job that asked for the snapshot; empty: none did. One whose object was made after it, by an earlier Longhorn's
// engine, is labelled in the engine alone.
func JobOf(s *v1beta2.Snapshot) string {
	return cmp.Or(s.Spec.Labels[v1beta2.LabelRecurringJob], s.Status.Labels[v1beta2.LabelRecurringJob])
}

// JobOfBackup is the job that asked for the backup; empty: none did. One that was listed in its target is labelled there alone.
func JobOfBackup(b *v1beta2.Backup) string {
	return cmp.Or(b.Spec.Labels[v1beta2.LabelRecurringJob], b.Status.Labels[v1beta2.LabelRecurringJob])
}

// Keys of jobs and groups. A job is for a volume where they have one in common.
const (
	keyJob   = "job/"
	keyGroup = "group/"
)

// KeysOfVolume are the jobs and groups that the labels of a volume, or of its claim, name, in order; where they name none, it is the
// default group.
func KeysOfVolume(labels map[string]string) []string {
	var out []string
	for label, value := range labels {
		if value != v1beta2.RecurringEnabled {
			continue
		}
		if name, ok := strings.CutPrefix(label, v1beta2.LabelRecurringJobPrefix); ok {
			out = append(out, keyJob+name)
		}
		if name, ok := strings.CutPrefix(label, v1beta2.LabelRecurringGroupPrefix); ok {
			out = append(out, keyGroup+name)
		}
	}
	if len(out) == 0 {
		return []string{keyGroup + v1beta2.RecurringGroupDefault}
	}
	slices.Sort(out)
	return out
}

// KeysOfJob are the job itself and its groups, in order and each once.
func KeysOfJob(job *v1beta2.RecurringJob) []string {
	out := []string{keyJob + job.Name}
	for _, group := range job.Spec.Groups {
		out = append(out, keyGroup+group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsFor reports whether the job is for a volume with these labels.
func IsFor(job *v1beta2.RecurringJob, labels map[string]string) bool {
	wanted := KeysOfJob(job)
	return slices.ContainsFunc(KeysOfVolume(labels), func(key string) bool { return slices.Contains(wanted, key) })
}

// mayBegin reports whether a run may begin with the volume: not with one that gets its data from elsewhere.
func (w World) mayBegin(v *v1beta2.Volume) bool {
	filling, _ := snapshot.Filling(v)
	return filling == "" && (w.WhileDetached || v.Status.State == v1beta2.VolumeStateAttached)
}

func (w World) volumes() []*v1beta2.Volume { return Served(w.Job, w.Volumes, w.Sources) }

// Served are those of the volumes that the job is for and that stay, by name and each once.
func Served(job *v1beta2.RecurringJob, volumes []*v1beta2.Volume, sources Sources) []*v1beta2.Volume {
	var out []*v1beta2.Volume
	for _, v := range volumes {
		if v.DeletionTimestamp == nil && IsFor(job, sources.Labels(v)) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *v1beta2.Volume) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b *v1beta2.Volume) bool { return a.Name == b.Name })
}
