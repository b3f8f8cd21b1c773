package present

import (
	"cmp"
	"time"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Backup is a backup as clients see it. All its sizes are decimal strings.
type Backup struct {
	wire.Meta
	Name                   string            `json:"name"`
	State                  string            `json:"state"`
	Progress               int               `json:"progress"`
	Error                  string            `json:"error"`
	URL                    string            `json:"url"`
	SnapshotName           string            `json:"snapshotName"`
	SnapshotCreated        string            `json:"snapshotCreated"`
	Created                string            `json:"created"`
	Size                   string            `json:"size"`
	Labels                 map[string]string `json:"labels"`
	BackupMode             string            `json:"backupMode"`
	Messages               map[string]string `json:"messages"`
	VolumeName             string            `json:"volumeName"`
	VolumeSize             string            `json:"volumeSize"`
	VolumeCreated          string            `json:"volumeCreated"`
	VolumeBackingImageName string            `json:"volumeBackingImageName"`
	CompressionMethod      string            `json:"compressionMethod"`
	NewlyUploadedDataSize  string            `json:"newlyUploadDataSize"`
	ReUploadedDataSize     string            `json:"reUploadedDataSize"`
	BackupTargetName       string            `json:"backupTargetName"`
	BlockSize              string            `json:"blockSize"`
}

// NewBackup returns a backup as clients see it. Its volume and target are in labels until its status has them.
func NewBackup(base string, b *v1beta2.Backup) Backup {
	labels := b.Status.Labels
	if len(labels) == 0 {
		labels = b.Spec.Labels
	}
	s := b.Status
	return Backup{Meta: wire.NewMeta(base, wire.TypeBackup, b.Name), Name: b.Name, State: s.State, Progress: s.Progress, Error: s.Error,
		URL: s.URL, SnapshotName: cmp.Or(b.Spec.SnapshotName, s.SnapshotName), SnapshotCreated: s.SnapshotCreatedAt,
		Created: s.BackupCreatedAt, Size: cmp.Or(s.Size, "0"), Labels: table(labels), BackupMode: b.Spec.BackupMode,
		Messages: table(s.Messages), VolumeName: VolumeOfBackup(b), VolumeSize: cmp.Or(s.VolumeSize, "0"), VolumeCreated: s.VolumeCreated,
		VolumeBackingImageName: s.VolumeBackingImageName, CompressionMethod: s.CompressionMethod,
		NewlyUploadedDataSize: cmp.Or(s.NewlyUploadDataSize, "0"), ReUploadedDataSize: cmp.Or(s.ReUploadedDataSize, "0"),
		BackupTargetName: targetOfBackup(b), BlockSize: cmp.Or(b.Spec.BackupBlockSize, "0")}
}

// VolumeOfBackup returns the volume that a backup was taken of.
func VolumeOfBackup(b *v1beta2.Backup) string {
	return cmp.Or(b.Status.VolumeName, b.Labels[v1beta2.LabelBackupVolume])
}

func targetOfBackup(b *v1beta2.Backup) string {
	return cmp.Or(b.Status.BackupTargetName, b.Labels[v1beta2.LabelBackupTarget], v1beta2.BackupTargetDefault)
}

// BackupVolume is the record of a volume in a backup target.
type BackupVolume struct {
	wire.Meta
	Name                 string            `json:"name"`
	Size                 string            `json:"size"`
	Labels               map[string]string `json:"labels"`
	Created              string            `json:"created"`
	LastBackupName       string            `json:"lastBackupName"`
	LastBackupAt         string            `json:"lastBackupAt"`
	DataStored           string            `json:"dataStored"`
	Messages             map[string]string `json:"messages"`
	BackingImageName     string            `json:"backingImageName"`
	BackingImageChecksum string            `json:"backingImageChecksum"`
	StorageClassName     string            `json:"storageClassName"`
	BackupTargetName     string            `json:"backupTargetName"`
	VolumeName           string            `json:"volumeName"`
}

// NewBackupVolume returns a backup volume as clients see it.
func NewBackupVolume(base string, b *v1beta2.BackupVolume) BackupVolume {
	s := b.Status
	return BackupVolume{Meta: newBackupVolumeMeta(base, b.Name), Name: b.Name, Size: cmp.Or(s.Size, "0"), Labels: table(s.Labels),
		Created: s.CreatedAt, LastBackupName: s.LastBackupName, LastBackupAt: s.LastBackupAt, DataStored: cmp.Or(s.DataStored, "0"),
		Messages: table(s.Messages), BackingImageName: s.BackingImageName, BackingImageChecksum: s.BackingImageChecksum,
		StorageClassName: s.StorageClassName, BackupTargetName: b.Spec.BackupTargetName, VolumeName: b.Spec.VolumeName}
}

// NewAbsentBackupVolume returns the resource of a backup volume that does not exist. The CSI plugin asks for one before each backup and
// ends if it gets 404.
func NewAbsentBackupVolume(base, name string) BackupVolume {
	return BackupVolume{Meta: newBackupVolumeMeta(base, name), Name: name, Size: "0", DataStored: "0", Labels: map[string]string{},
		Messages: map[string]string{}}
}

func newBackupVolumeMeta(base, name string) wire.Meta {
	return wire.NewMeta(base, wire.TypeBackupVolume, name, "backupList", "backupListByVolume", "backupGet", "backupDelete",
		"backupVolumeSync")
}

// BackupTarget is a place for backups.
type BackupTarget struct {
	wire.Meta
	Name             string `json:"name"`
	BackupTargetURL  string `json:"backupTargetURL"`
	CredentialSecret string `json:"credentialSecret"`
	PollInterval     string `json:"pollInterval"`
	Available        bool   `json:"available"`
	Message          string `json:"message"`
}

// NewBackupTarget returns a backup target as clients see it. It can be used if it has an address, unless the last engine that copied to it
// failed: no controller tries a target without a backup.
func NewBackupTarget(base string, t *v1beta2.BackupTarget) BackupTarget {
	out := BackupTarget{Meta: wire.NewMeta(base, wire.TypeBackupTarget, t.Name, "backupTargetSync", "backupTargetUpdate"), Name: t.Name,
		BackupTargetURL: t.Spec.BackupTargetURL, CredentialSecret: t.Spec.CredentialSecret, PollInterval: duration(t.Spec.PollInterval),
		Available: t.Spec.BackupTargetURL != "" && !conditions.IsFalse(t.Status.Conditions, v1beta2.BackupTargetAvailable)}
	if c := conditions.Get(t.Status.Conditions, v1beta2.BackupTargetAvailable); c != nil && !out.Available {
		out.Message = c.Message
	}
	return out
}

// duration returns a time as clients know it, such as 5m0s.
func duration(text string) string {
	if d, err := time.ParseDuration(text); err == nil {
		return d.String()
	}
	return cmp.Or(text, "0s")
}
