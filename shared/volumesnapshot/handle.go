package volumesnapshot

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

// KindOldBackup is how older classes and handles call KindBackup.
const KindOldBackup Kind = "bs"

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
		kind = KindOldBackup
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
	if h.Kind == KindOldBackup {
		h.Kind, h.Old = KindBackup, true
	}
	known := h.Kind == KindSnapshot || h.Kind == KindBackup
	return h, ok && known && volume != "" && name != "" && !strings.Contains(name, "/")
}

// Behind returns the volume, and the Snapshot and Backup that are, or are to be, behind a content; empty: none. volume is the one to take a
// snapshot of, uid that of the VolumeSnapshot, handles are those of what is there already.
func Behind(volume, uid string, handles ...string) (of, snapshot, backup string) {
	if volume != "" && uid != "" {
		of, snapshot, backup = volume, SnapshotName(uid), BackupName(uid)
	}
	for _, text := range handles {
		h, ok := ParseHandle(text)
		switch {
		case ok && h.Kind == KindSnapshot:
			of, snapshot = h.Volume, h.Name
		case ok:
			of, backup = h.Volume, h.Name
		}
	}
	return of, snapshot, backup
}

// Behind returns the volume, and the Snapshot and Backup that are, or are to be, behind the content; empty: none, or another driver's.
func (c *Content) Behind() (volume, snapshot, backup string) {
	if c.Spec.Driver != Driver {
		return "", "", ""
	}
	handles := []string{c.Spec.Source.SnapshotHandle}
	if c.Status != nil {
		handles = append(handles, c.Status.SnapshotHandle)
	}
	return Behind(c.Spec.Source.VolumeHandle, string(c.Spec.VolumeSnapshotRef.UID), handles...)
}

// SnapshotName is that of the Snapshot that is made for the VolumeSnapshot of that UID.
func SnapshotName(uid string) string { return "snapshot-" + uid }

// BackupName is that of the Backup that is made for it.
func BackupName(uid string) string { return "backup-" + uid }
