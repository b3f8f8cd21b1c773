package backup

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Last is the newest finished Backup of a volume, and when that was; empty: there is none. What an earlier volume of the same
// name left behind is not its own.
func Last(v *v1beta2.Volume, backups []*v1beta2.Backup) (name, at string) {
	var newest time.Time
	for _, b := range backups {
		if b.Status.State != v1beta2.BackupCompleted || b.DeletionTimestamp != nil {
			continue
		}
		when, err := time.Parse(time.RFC3339, b.Status.BackupCreatedAt)
		if err != nil || when.Before(v.CreationTimestamp.Time) || when.Before(newest) || when.Equal(newest) && b.Name < name {
			continue
		}
		name, at, newest = b.Name, b.Status.BackupCreatedAt, when
	}
	return name, at
}
