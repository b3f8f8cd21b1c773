package backuplist

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// Apart is how long two readings must be apart that both miss something before its object goes.
const Apart = 30 * time.Second

// IsStored reports whether a Backup describes a whole backup of the volume in the target at this URL.
func IsStored(b *v1beta2.Backup, target, volume, url string) bool {
	return b.DeletionTimestamp == nil && b.Status.State == v1beta2.BackupCompleted && TargetOfBackup(b) == target &&
		b.Status.VolumeName == volume && v1beta2.LiesInTarget(b.Status.URL, url)
}

// Missing are the Backups that were stored in the target before it was read, and that the reading does not list. listed is in
// order.
func Missing(before []*v1beta2.Backup, listed []string) []*v1beta2.Backup {
	var out []*v1beta2.Backup
	for _, b := range before {
		if _, found := slices.BinarySearch(listed, b.Name); !found {
			out = append(out, b)
		}
	}
	return out
}

// IsOfTarget reports whether a BackupVolume was found before in the target at this URL, and nobody deletes it.
func IsOfTarget(v *v1beta2.BackupVolume, url string) bool {
	return v.DeletionTimestamp == nil && v.Status.TargetURL != "" && v.Status.TargetURL == url
}

// Absences remembers since when readings have missed objects. It is of one process: another one begins again, which only delays.
type Absences struct {
	mutex sync.Mutex
	since map[types.UID]time.Time
}

// Note records that a reading, which began at that time, missed an object. It reports whether an earlier reading had missed the object,
// long enough before.
func (a *Absences) Note(uid types.UID, began time.Time) (gone bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.since == nil {
		a.since = map[types.UID]time.Time{}
	}
	first, known := a.since[uid]
	if !known {
		a.since[uid] = began
		return false
	}
	return !began.Before(first.Add(Apart))
}

// Forget records that an object was found, or is gone.
func (a *Absences) Forget(uid types.UID) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.since, uid)
}
