// Package setting names the settings that snapshot-controller obeys, with what they mean and their defaults.
package setting

import (
	"time"

	"drover.dev/drover/shared/setting"
)

// Names of the settings.
const (
	DisablePurge      = "disable-snapshot-purge"
	PurgesPerNode     = "snapshot-heavy-task-concurrent-limit"
	SnapshotMaxCount  = "snapshot-max-count"
	JobsWhileDetached = "allow-recurring-job-while-volume-detached"
	EngineImage       = "default-engine-image"
	BackupTimeout     = "backup-execution-timeout"
	FailedBackupTTL   = "failed-backup-ttl"
)

// Values are the settings' values for volumes of one data engine.
type Values struct {
	// PurgeDisabled forbids purges: deleted snapshots stay until it is false again.
	PurgeDisabled bool
	// PurgesPerNode is how many volumes of a node may purge at once; 0 means no limit.
	PurgesPerNode int
	// SnapshotMaxCount is how many snapshots a volume may have that names no number.
	SnapshotMaxCount int
	// JobsWhileDetached lets recurring jobs have detached volumes attached; else their runs pass them over.
	JobsWhileDetached bool
	// EngineImage is the image whose binary reads backup targets; empty: none is named.
	EngineImage string
	// BackupTimeout is how long a command that reads a backup target may take.
	BackupTimeout time.Duration
	// FailedBackupTTL is how long a Backup that failed stays; 0: as long as nobody deletes it.
	FailedBackupTTL time.Duration
}

// Defaults are in force where a setting does not exist or is empty.
func Defaults() Values {
	return Values{PurgesPerNode: 5, SnapshotMaxCount: 250, BackupTimeout: time.Minute, FailedBackupTTL: 24 * time.Hour}
}

// The longest times of settings, in minutes.
const (
	mostBackupTimeout   = 1000
	mostFailedBackupTTL = 999_999
)

// Catalogue reads them.
var Catalogue = setting.Catalogue[Values]{Defaults: Defaults, Readers: map[string]setting.Reader[Values]{
	DisablePurge:     setting.Boolean(func(v *Values) *bool { return &v.PurgeDisabled }),
	PurgesPerNode:    setting.Number(0, setting.MostPurgesPerNode, func(v *Values, n int) { v.PurgesPerNode = n }),
	SnapshotMaxCount: setting.Number(2, 250, func(v *Values, n int) { v.SnapshotMaxCount = n }),

	JobsWhileDetached: setting.Boolean(func(v *Values) *bool { return &v.JobsWhileDetached }),
	EngineImage:       setting.Text(func(v *Values, image string) { v.EngineImage = image }, setting.ParseImage),
	BackupTimeout: setting.Number(1, mostBackupTimeout, func(v *Values, minutes int) {
		v.BackupTimeout = time.Duration(minutes) * time.Minute
	}),
	FailedBackupTTL: setting.Number(0, mostFailedBackupTTL, func(v *Values, minutes int) {
		v.FailedBackupTTL = time.Duration(minutes) * time.Minute
	}),
}, Safe: map[string]string{DisablePurge: "true"}}
