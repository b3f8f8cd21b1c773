package recurring

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/backup"
)

// backsUp reports whether the job backs up the snapshots that it asks for.
func (w World) backsUp() bool {
	return w.Job.Spec.Task == v1beta2.RecurringTaskBackup || w.Job.Spec.Task == v1beta2.RecurringTaskBackupForceCreate
}

// underWayBackups notes the Backups that are being copied, and returns the names of all Backups of the run. A Backup that an engine
// copies holds the run up as long as it makes progress, and a Backup that waits does so for the run's patience. A Backup that makes no
// progress, or waits for people, does not hold the run up.
func (w World) underWayBackups(p *plan, waiting map[string]bool) map[string]bool {
	made := map[string]bool{}
	for _, b := range w.Backups {
		made[b.Name] = true
		if b.DeletionTimestamp != nil || v1beta2.IsBackupEnded(b) || w.neverBegins(b) {
			continue
		}
		waiting[b.Labels[v1beta2.LabelBackupVolume]] = true
		approved := conditions.IsTrue(b.Status.Conditions, v1beta2.BackupApproved)
		until := b.CreationTimestamp.Add(patience)
		switch {
		case backup.IsStalled(b): // its volume waits, the run does not
		case approved && v1beta2.IsBackupBegun(b):
			p.busy++
		case !stuck(b) && w.Now.Before(until):
			p.hold(until)
		}
	}
	return made
}

// neverBegins reports whether the Backup is of an earlier volume of the name, or waits for a Snapshot of the job that is gone, or going.
// Only of the world's volumes every Snapshot is known.
func (w World) neverBegins(b *v1beta2.Backup) bool {
	at := slices.IndexFunc(w.Volumes, func(v *v1beta2.Volume) bool {
		return v1beta2.LabelValue(v.Name) == b.Labels[v1beta2.LabelBackupVolume]
	})
	switch {
	case at < 0:
		return false
	case b.CreationTimestamp.Before(&w.Volumes[at].CreationTimestamp):
		return true
	case v1beta2.IsBackupBegun(b) || b.Spec.SnapshotName != b.Name:
		return false
	}
	return !slices.ContainsFunc(w.Snapshots, func(s *v1beta2.Snapshot) bool { return s.Name == b.Name && s.DeletionTimestamp == nil })
}

// stuck reports whether the Backup waits for people, not in a queue.
func stuck(b *v1beta2.Backup) bool {
	switch conditions.Reason(b.Status.Conditions, v1beta2.BackupApproved) {
	case v1beta2.ReasonTargetUnavailable, v1beta2.ReasonVolumeNotFound, v1beta2.ReasonRestoring:
		return true
	}
	return false
}

// newBackup is the one of the run's Snapshot, and has its name.
func (w World) newBackup(name string, v *v1beta2.Volume) *v1beta2.Backup {
	labels := maps.Clone(w.Job.Spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1beta2.LabelRecurringJob] = w.Job.Name
	return &v1beta2.Backup{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Job.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{
				v1beta2.LabelBackupVolume: v1beta2.LabelValue(v.Name), v1beta2.LabelRecurringJob: v1beta2.LabelValue(w.Job.Name),
			},
		},
		Spec: v1beta2.BackupSpec{SnapshotName: name, Labels: labels, BackupMode: w.mode()},
	}
}

// parameterFullInterval is the parameter of a job that names at which runs everything is uploaded: 3 is each third, 0 none.
const parameterFullInterval = "full-backup-interval"

// modeFull is the Backup.spec.backupMode by which everything is uploaded.
const modeFull = "full"

// mode is how much the backups of the run that is under way upload; empty: what changed.
func (w World) mode() string {
	if n, _ := fullInterval(w.Job.Spec); n > 0 && (w.Job.Status.ExecutionCount+1)%n == 0 {
		return modeFull
	}
	return ""
}

func fullInterval(spec v1beta2.RecurringJobSpec) (n int, ok bool) {
	text, given := spec.Parameters[parameterFullInterval]
	if !given || text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

func newerBackupFirst(a, b *v1beta2.Backup) int {
	if c := backedUpAt(b).Compare(backedUpAt(a)); c != 0 {
		return c
	}
	return strings.Compare(b.Name, a.Name)
}

func backedUpAt(b *v1beta2.Backup) time.Time {
	if t, ok := parseTime(b.Status.BackupCreatedAt); ok {
		return t
	}
	return b.CreationTimestamp.UTC()
}
