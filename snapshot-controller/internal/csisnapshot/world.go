package csisnapshot

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

// What the common snapshot controller and the csi-snapshotter put on contents; both read these names.
const (
	// Finalizer is put there by the common snapshot controller and dropped here.
	Finalizer = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
	// BeingCreated is ours: the snapshot was asked for, and that was not answered yet.
	BeingCreated = "snapshot.storage.kubernetes.io/volumesnapshot-being-created"
	// BeingDeleted is the common snapshot controller's: the VolumeSnapshot is deleted.
	BeingDeleted = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
	// groupMember is on contents of a VolumeGroupSnapshot, which is not served.
	groupMember = "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle"
)

const (
	policyDelete = "Delete"
	// parameterType is the parameter of a class that names the kind; empty: a backup.
	parameterType = "type"
	// parameterMode is the one that states how much a backup uploads; empty: what changed.
	parameterMode     = "backupMode"
	backupFull        = "full"
	backupIncremental = "incremental"
)

// World is everything that is known of one content. What does not exist is nil.
type World struct {
	Now     time.Time
	Content Content
	Class   *Class
	// Volume, Snapshot and Backup are those that Content.Names names.
	Volume   *v1beta2.Volume
	Snapshot *v1beta2.Snapshot
	Backup   *v1beta2.Backup
	// Clones are the names of volumes that share the snapshot's data.
	Clones []string
}

// Class is a VolumeSnapshotClass.
type Class struct {
	Driver, Type string
	// BackupMode is what the Backup gets as spec.backupMode.
	BackupMode string
}

// Content is what matters of a VolumeSnapshotContent.
type Content struct {
	Name, Driver, ClassName string
	// VolumeHandle is the volume to take it of; SnapshotHandle what is there already.
	VolumeHandle, SnapshotHandle string
	// SnapshotUID is that of the VolumeSnapshot; empty: they are not bound.
	SnapshotUID string
	// Deletes reports whether what is behind it goes with it.
	Deletes                                                    bool
	Deleting, HasFinalizer, BeingCreated, BeingDeleted, Member bool
	Status                                                     Status
}

// Status is what a content reports about what is behind it.
type Status struct {
	Handle string
	Ready  bool
	// CreationTime is in nanoseconds since 1970, RestoreSize in bytes.
	CreationTime, RestoreSize int64
	Error                     string
}

// FromContent takes the facts out of the object.
func FromContent(c *volumesnapshot.Content) Content {
	out := Content{
		Name: c.Name, Driver: c.Spec.Driver, ClassName: c.Spec.VolumeSnapshotClassName,
		VolumeHandle: c.Spec.Source.VolumeHandle, SnapshotHandle: c.Spec.Source.SnapshotHandle,
		SnapshotUID: string(c.Spec.VolumeSnapshotRef.UID), Deletes: c.Spec.DeletionPolicy == policyDelete,
		Deleting:     c.DeletionTimestamp != nil,
		BeingCreated: metav1.HasAnnotation(c.ObjectMeta, BeingCreated),
		BeingDeleted: metav1.HasAnnotation(c.ObjectMeta, BeingDeleted),
		Member:       metav1.HasAnnotation(c.ObjectMeta, groupMember),
	}
	for _, f := range c.Finalizers {
		out.HasFinalizer = out.HasFinalizer || f == Finalizer
	}
	if s := c.Status; s != nil {
		out.Status = Status{Handle: s.SnapshotHandle, Ready: s.ReadyToUse, CreationTime: s.CreationTime, RestoreSize: s.RestoreSize}
		if s.Error != nil {
			out.Status.Error = s.Error.Message
		}
	}
	return out
}

// FromClass takes the facts out of the object.
func FromClass(c *volumesnapshot.Class) Class {
	return Class{Driver: c.Driver, Type: c.Parameters[parameterType], BackupMode: c.Parameters[parameterMode]}
}

// Names are the volume, and the Snapshot and Backup that are, or are to be, behind the content; empty: none.
func (c Content) Names() (volume, snapshot, backup string) {
	return volumesnapshot.Behind(c.VolumeHandle, c.SnapshotUID, c.SnapshotHandle, c.Status.Handle)
}

// dynamic reports whether the snapshot is to be taken for the content.
func (c Content) dynamic() bool { return c.VolumeHandle != "" }

// Ours reports whether the content is this driver's, and one that can be served.
func (c Content) Ours() bool {
	return c.Driver == volumesnapshot.Driver && (c.VolumeHandle != "" || c.SnapshotHandle != "") && !c.Member
}
