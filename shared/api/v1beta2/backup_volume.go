package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupVolumeSpec names the target and the volume.
// +kubebuilder:pruning:PreserveUnknownFields
type BackupVolumeSpec struct {
	// BackupTarget that holds it. Written by snapshot-controller; absent means default.
	// +optional
	BackupTargetName string `json:"backupTargetName,omitempty"`
	// RFC 3339 time at which reading the target again was requested. Drover does not obey it: see the same field of the BackupTarget. Written
	// by Longhorn; absent means never.
	// +optional
	SyncRequestedAt string `json:"syncRequestedAt,omitempty"`
	// Volume that the backups are of. Written by snapshot-controller; absent means metadata.name.
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
}

// BackupVolumeStatus is what was read from the target.
// +kubebuilder:pruning:PreserveUnknownFields
type BackupVolumeStatus struct {
	// Checksum of the volume's backing image. Written by snapshot-controller; absent means none.
	// +optional
	BackingImageChecksum string `json:"backingImageChecksum,omitempty"`
	// BackingImage of the volume. Written by snapshot-controller; absent means none.
	// +optional
	BackingImageName string `json:"backingImageName,omitempty"`
	// RFC 3339 time of its first backup. Written by snapshot-controller; absent means unknown.
	// +optional
	CreatedAt string `json:"createdAt,omitempty"`
	// Bytes in the target, as a decimal string. Written by snapshot-controller; absent means unknown.
	// +optional
	DataStored string `json:"dataStored,omitempty"`
	// Labels in the target. Written by snapshot-controller; absent means none.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// RFC 3339 time of the newest backup. Written by snapshot-controller; absent means there is none.
	// +optional
	LastBackupAt string `json:"lastBackupAt,omitempty"`
	// Name of the newest backup. Written by snapshot-controller; absent means there is none.
	// +optional
	LastBackupName string `json:"lastBackupName,omitempty"`
	// RFC 3339 time at which the target changed it last. Written by snapshot-controller; absent means unknown.
	// +optional
	LastModificationTime string `json:"lastModificationTime,omitempty"`
	// RFC 3339 time at which the target was read last. Written by snapshot-controller; absent means never.
	// +optional
	LastSyncedAt string `json:"lastSyncedAt,omitempty"`
	// Sentences about reading it, by their level. Written by snapshot-controller; absent means none.
	// +optional
	Messages map[string]string `json:"messages,omitempty"`
	// Node whose controller manages it. Written by Longhorn; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Bytes of the volume, as a decimal string. Written by snapshot-controller; absent means unknown.
	// +optional
	Size string `json:"size,omitempty"`
	// StorageClass of the volume. Written by snapshot-controller; absent means none.
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
	// URL of the target in which it was found last. Nothing is removed from a target with another URL. Written by snapshot-controller; absent
	// means that Drover did not find it.
	// +optional
	TargetURL string `json:"targetURL,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backupvolumes,shortName=lhbv,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.volumeName`
// +kubebuilder:selectablefield:JSONPath=`.spec.backupTargetName`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volumeName`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.backupTargetName`
// +kubebuilder:printcolumn:name="Last Backup",type=string,JSONPath=`.status.lastBackupName`
// +kubebuilder:printcolumn:name="Last Backup At",type=string,JSONPath=`.status.lastBackupAt`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Stored",type=string,JSONPath=`.status.dataStored`,priority=1
// +kubebuilder:printcolumn:name="Last Synced",type=string,JSONPath=`.status.lastSyncedAt`,priority=1

// BackupVolume is what a backup target has of one volume. If it is deleted, all of that is removed from the target.
type BackupVolume struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec BackupVolumeSpec `json:"spec,omitzero"`
	// +optional
	Status BackupVolumeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupVolumeList is a list of BackupVolume objects.
type BackupVolumeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupVolume `json:"items"`
}
