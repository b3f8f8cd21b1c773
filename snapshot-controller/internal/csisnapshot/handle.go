package csisnapshot

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// Driver is the CSI driver whose contents are served.
const Driver = v1beta2.CSIDriver

// Kind is what stands behind a content.
type Kind string

// The kinds, as in handles and in the parameter of a class.
const (
	// KindSnapshot is a Snapshot, in the volume's own replicas.
	KindSnapshot Kind = "snap"
	// KindBackup is a Backup, in a backup target.
	KindBackup Kind = "bak"
)

// kindOldBackup is how older classes and handles call KindBackup.
const kindOldBackup Kind = "bs"

// Handle names a snapshot or a backup of a volume; it is written kind://volume/name.
type Handle struct {
	Kind         Kind
	Volume, Name string
	// Old reports whether it is written bs://volume/name, of KindBackup.
	Old bool
}

// String is the handle as it stands in a content.
func (h Handle) String() string {
	kind := h.Kind
	if h.Old {
		kind = kindOldBackup
	}
	return string(kind) + "://" + h.Volume + "/" + h.Name
}

// ParseHandle reads a handle; false: it is none of ours.
func ParseHandle(text string) (Handle, bool) {
	kind, rest, ok := strings.Cut(text, "://")
	if !ok {
		return Handle{}, false
	}
	volume, name, ok := strings.Cut(rest, "/")
	h := Handle{Kind: Kind(kind), Volume: volume, Name: name}
	if h.Kind == kindOldBackup {
		h.Kind, h.Old = KindBackup, true
	}
	known := h.Kind == KindSnapshot || h.Kind == KindBackup
	return h, ok && known && volume != "" && name != "" && !strings.Contains(name, "/")
}

// SnapshotName and BackupName are what is made for the VolumeSnapshot of that UID.
func SnapshotName(uid string) string { return "snapshot-" + uid }

// BackupName is that of the Backup.
func BackupName(uid string) string { return "backup-" + uid }
