package v1beta2

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels of a Backup.
const (
	// LabelBackupVolume is the volume that it is of.
	LabelBackupVolume = "backup-volume"
	// LabelBackupTarget is the BackupTarget that it goes to; absent means the volume's.
	LabelBackupTarget = "backup-target"
	// LabelObjectOnly on a Backup or BackupVolume, with any value, keeps its deletion off the target: only the object goes.
	LabelObjectOnly = "longhorn.io/delete-custom-resource-only"
)

// BackupTargetDefault is the BackupTarget of volumes that name none.
const BackupTargetDefault = "default"

// States of a Backup.
const (
	// BackupNew is a Backup without any report yet; so is an empty state.
	BackupNew = "New"
	// BackupPending is a Backup that is being requested from the engine.
	BackupPending = "Pending"
	// BackupInProgress is one that the engine copies.
	BackupInProgress = "InProgress"
	// BackupCompleted is one that is complete in its target. It is final.
	BackupCompleted = "Completed"
	// BackupError is one that failed; status.error explains why. It is final.
	BackupError = "Error"
	// BackupDeleting is one that was deleted after it had ended, and whose data is being removed from its target.
	BackupDeleting = "Deleting"
)

// IsBackupEnded reports whether the Backup has ended.
func IsBackupEnded(b *Backup) bool {
	switch b.Status.State {
	case BackupCompleted, BackupError, BackupDeleting:
		return true
	}
	return false
}

// IsBackupBegun reports whether an engine was requested to take the Backup, and has not ended it.
func IsBackupBegun(b *Backup) bool {
	return b.Status.State == BackupPending || b.Status.State == BackupInProgress
}

// BackupTargetOf is the name of the BackupTarget that a backup of this volume goes to; the target that a Backup began with stays.
func BackupTargetOf(b *Backup, v *Volume) string {
	for _, name := range []string{b.Status.BackupTargetName, b.Labels[LabelBackupTarget], v.Spec.BackupTargetName} {
		if name != "" {
			return name
		}
	}
	return BackupTargetDefault
}

// LiesInTarget reports whether the URL of a backup is of the target at another URL. Both may have options.
func LiesInTarget(backup, target string) bool {
	at, _, _ := strings.Cut(backup, "?")
	in, _, _ := strings.Cut(target, "?")
	return in != "" && strings.TrimRight(at, "/") == strings.TrimRight(in, "/")
}

// BackupSpec names the snapshot to back up.
// +kubebuilder:validation:XValidation:rule=`oldSelf.?snapshotName.orValue("") == "" || self.?snapshotName.orValue("") == oldSelf.snapshotName`,message="spec.snapshotName is immutable: create a new Backup of the other snapshot"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?backupMode.orValue("") == "" || self.?backupMode.orValue("") == oldSelf.backupMode`,message="spec.backupMode is immutable: create a new Backup with the other mode"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?backupBlockSize.orValue("") in ["", "-1"] || self.?backupBlockSize.orValue("") == oldSelf.backupBlockSize`,message="spec.backupBlockSize is immutable: create a new Backup with the other size of blocks"
// +kubebuilder:pruning:PreserveUnknownFields
type BackupSpec struct {
	// Size in bytes of the blocks, as a decimal string; -1 takes the volume's. Written by a person; absent means the
	// volume's.
	// +kubebuilder:validation:Enum="-1";"2097152";"16777216"
	// +optional
	BackupBlockSize string `json:"backupBlockSize,omitempty"`
	// Whether all blocks are uploaded (full) or the changed ones. Written by a person; absent means incremental.
	// +kubebuilder:validation:Enum=full;incremental
	// +optional
	BackupMode string `json:"backupMode,omitempty"`
	// Labels of the backup in the target. Written by a person; absent means none.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Snapshot to back up. Written by a person; absent means nothing to take: it describes a backup that the target
	// has already.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^ \\t\\n/]*$") && self != "volume-head"`,message="spec.snapshotName must be the name of a Snapshot, without blanks; to back up what the volume has now, take a Snapshot first"
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// RFC 3339 time at which reading the target again was requested. Drover does not obey it: see the same field of the BackupTarget. Written
	// by a person; absent means never.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$")`,message="spec.syncRequestedAt must be an RFC 3339 time, such as 2026-01-31T09:30:00Z"
	// +nullable
	// +optional
	SyncRequestedAt string `json:"syncRequestedAt,omitempty"`
}

// BackupStatus is what im-monitor observed of the backup, except for the fields that name another writer. Of a backup that was found in its
// target, snapshot-controller writes all of it.
// +kubebuilder:pruning:PreserveUnknownFields
type BackupStatus struct {
	// RFC 3339 time at which it was finished. Written by im-monitor; absent means it is not finished.
	// +optional
	BackupCreatedAt string `json:"backupCreatedAt,omitempty"`
	// BackupTarget that holds it. Written by im-monitor; absent means unknown.
	// +optional
	BackupTargetName string `json:"backupTargetName,omitempty"`
	// How it is compressed. Written by im-monitor; absent means unknown.
	// +optional
	CompressionMethod string `json:"compressionMethod,omitempty"`
	// Sentence on why it failed. Written by im-monitor; absent means it did not.
	// +optional
	Error string `json:"error,omitempty"`
	// Labels in the target. Written by im-monitor; absent means none.
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// The run of the engine that was requested to take it, as a word that no other run has. Written by im-monitor right
	// before the request; absent means none.
	// +optional
	EngineRun string `json:"engineRun,omitempty"`
	// RFC 3339 time at which it was read from the target. Written by snapshot-controller; absent means never.
	// +nullable
	// +optional
	LastSyncedAt string `json:"lastSyncedAt,omitempty"`
	// Sentences of the data engine, by their level. Written by snapshot-controller; absent means none.
	// +nullable
	// +optional
	Messages map[string]string `json:"messages,omitempty"`
	// Bytes uploaded for the first time, as a decimal string. Written by snapshot-controller, which reads it from the target; absent means
	// unknown.
	// +optional
	NewlyUploadDataSize string `json:"newlyUploadDataSize,omitempty"`
	// Node whose controller manages it; kept for objects that Longhorn created. Written by Longhorn; absent means unknown.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Progress in per cent. Written by im-monitor; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// Bytes uploaded again, as a decimal string. Written by snapshot-controller, which reads it from the target; absent means unknown.
	// +optional
	ReUploadedDataSize string `json:"reUploadedDataSize,omitempty"`
	// RFC 3339 time at which the engine last reported another state or progress. Written by im-monitor together with these; absent
	// means it has not begun.
	// +optional
	ProgressedAt string `json:"progressedAt,omitempty"`
	// Replica that uploads (tcp://ip:port). Written by im-monitor; absent means unknown.
	// +optional
	ReplicaAddress string `json:"replicaAddress,omitempty"`
	// RFC 3339 time at which the engine was requested to take it. Written by im-monitor right before the request; absent means
	// not requested.
	// +optional
	RequestedTime string `json:"requestedTime,omitempty"`
	// Bytes that the snapshot and those below it hold, as a decimal string; of a backup that was found in the target, those of its blocks.
	// Written by im-monitor; absent means unknown.
	// +optional
	Size string `json:"size,omitempty"`
	// RFC 3339 time at which the snapshot was taken. Written by im-monitor; absent means unknown.
	// +optional
	SnapshotCreatedAt string `json:"snapshotCreatedAt,omitempty"`
	// Snapshot that it is of. Written by im-monitor; absent means unknown.
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// New, Pending, InProgress, Completed, Error, Deleting or Unknown. Written by im-monitor until it has ended, then by snapshot-controller;
	// absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
	// URL of the finished backup. Written by im-monitor; absent means it is not finished.
	// +optional
	URL string `json:"url,omitempty"`
	// BackingImage of a v1 volume. Written by im-monitor; absent means none.
	// +optional
	VolumeBackingImageName string `json:"volumeBackingImageName,omitempty"`
	// RFC 3339 time at which the volume was created. Written by im-monitor; absent means unknown.
	// +optional
	VolumeCreated string `json:"volumeCreated,omitempty"`
	// Volume that it is of. Written by im-monitor; absent means unknown.
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// Bytes of the volume, as a decimal string. Written by im-monitor; absent means unknown.
	// +optional
	VolumeSize string `json:"volumeSize,omitempty"`
	// The observations for people and peer controllers: Approved by snapshot-controller. Written by the writer of each type;
	// absent means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backups,shortName=lhb,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.snapshotName`
// +kubebuilder:selectablefield:JSONPath=`.status.volumeName`
// +kubebuilder:selectablefield:JSONPath=`.status.backupTargetName`
// +kubebuilder:selectablefield:JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Snapshot",type=string,JSONPath=`.spec.snapshotName`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.status.volumeName`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Approved")].reason`
// +kubebuilder:printcolumn:name="Progress",type=integer,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.backupTargetName`,priority=1
// +kubebuilder:printcolumn:name="Error",type=string,JSONPath=`.status.error`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Approved")].message`,priority=1

// Backup is one backup of a snapshot in a backup target. Creating it takes one.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec BackupSpec `json:"spec,omitzero"`
	// +optional
	Status BackupStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupList is a list of Backup objects.
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Backup `json:"items"`
}
