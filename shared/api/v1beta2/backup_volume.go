package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupVolumeSpec
// +kubebuilder:pruning:PreserveUnknownFields
type BackupVolumeSpec struct {
	// +optional
	BackupTargetName string `json:"backupTargetName,omitempty"`
	// +optional
	SyncRequestedAt string `json:"syncRequestedAt,omitempty"`
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
}

// BackupVolumeStatus
// +kubebuilder:pruning:PreserveUnknownFields
type BackupVolumeStatus struct {
	// +optional
	BackingImageChecksum string `json:"backingImageChecksum,omitempty"`
	// +optional
	BackingImageName string `json:"backingImageName,omitempty"`
	// +optional
	CreatedAt string `json:"createdAt,omitempty"`
	// +optional
	DataStored string `json:"dataStored,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	LastBackupAt string `json:"lastBackupAt,omitempty"`
	// +optional
	LastBackupName string `json:"lastBackupName,omitempty"`
	// +optional
	LastModificationTime string `json:"lastModificationTime,omitempty"`
	// +optional
	LastSyncedAt string `json:"lastSyncedAt,omitempty"`
	// +optional
	Messages map[string]string `json:"messages,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Size string `json:"size,omitempty"`
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backupvolumes,shortName=lhbv,scope=Namespaced,categories=longhorn

// BackupVolume
type BackupVolume struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupVolumeSpec   `json:"spec,omitzero"`
	Status BackupVolumeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupVolumeList is a list of BackupVolume objects.
type BackupVolumeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupVolume `json:"items"`
}
