package backup

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// World is everything that is known of one Backup. What does not exist is nil.
type World struct {
	Now    time.Time
	Backup *v1beta2.Backup
	// Snapshot is the one in the Backup's spec.
	Snapshot *v1beta2.Snapshot
	// Volume is the one with the name that VolumeName returns, and Attachment is its VolumeAttachment.
	Volume     *v1beta2.Volume
	Attachment *v1beta2.VolumeAttachment
	// Engine is the active one of the volume.
	Engine *v1beta2.Engine
	// Nodes are those that the volume uses: where it is attached, and those of its engine and of the replicas in use.
	Nodes []*v1beta2.Node
	// Target is the one that the backup goes to, and TargetName its name.
	Target     *v1beta2.BackupTarget
	TargetName string
	// Removal is what is known beside that of one that is being deleted.
	Removal Removal
	// FailedTTL is how long one that failed stays; 0: as long as nobody deletes it.
	FailedTTL time.Duration
	// Candidate is the node for the volume if it has to be attached, or where it is; empty: no node can.
	Candidate string
}

// VolumeName is the name of the volume that a Backup is of: what it was begun with, else its snapshot's, else what its
// label names.
func VolumeName(b *v1beta2.Backup, s *v1beta2.Snapshot) string {
	switch {
	case b.Status.VolumeName != "":
		return b.Status.VolumeName
	case s != nil:
		return s.Spec.Volume
	}
	return b.Labels[v1beta2.LabelBackupVolume]
}

func (w World) volumeName() string { return VolumeName(w.Backup, w.Snapshot) }

func (w World) deleting() bool { return w.Backup.DeletionTimestamp != nil }

// volume is the one that the snapshot belongs to; nil: it is gone, going, or another one has its name.
func (w World) volume() *v1beta2.Volume {
	if w.Volume == nil || w.Volume.DeletionTimestamp != nil || w.Snapshot != nil && snapshot.UID(w.Snapshot) != w.Volume.UID {
		return nil
	}
	return w.Volume
}

// attached reports whether the volume's engine serves.
func (w World) attached() bool {
	return w.Volume.Status.State == v1beta2.VolumeStateAttached && w.Engine != nil &&
		w.Engine.Status.CurrentState == v1beta2.InstanceStateRunning
}
