package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupSpec
// +kubebuilder:pruning:PreserveUnknownFields
type BackupSpec struct {
	// +kubebuilder:validation:Enum=-1;2097152;16777216
	// +optional
	BackupBlockSize string `json:"backupBlockSize,omitempty"`
	// +kubebuilder:validation:Enum=full;incremental
	// +optional
	BackupMode string `json:"backupMode,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// +nullable
	// +optional
	SyncRequestedAt string `json:"syncRequestedAt,omitempty"`
}

// BackupStatus
// +kubebuilder:pruning:PreserveUnknownFields
type BackupStatus struct {
	// +optional
	BackupCreatedAt string `json:"backupCreatedAt,omitempty"`
	// +optional
	BackupTargetName string `json:"backupTargetName,omitempty"`
	// +optional
	CompressionMethod string `json:"compressionMethod,omitempty"`
	// +optional
	Error string `json:"error,omitempty"`
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +nullable
	// +optional
	LastSyncedAt string `json:"lastSyncedAt,omitempty"`
	// +nullable
	// +optional
	Messages map[string]string `json:"messages,omitempty"`
	// +optional
	NewlyUploadDataSize string `json:"newlyUploadDataSize,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Progress int `json:"progress,omitempty"`
	// +optional
	ReUploadedDataSize string `json:"reUploadedDataSize,omitempty"`
	// +optional
	ReplicaAddress string `json:"replicaAddress,omitempty"`
	// +optional
	Size string `json:"size,omitempty"`
	// +optional
	SnapshotCreatedAt string `json:"snapshotCreatedAt,omitempty"`
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
	// +optional
	URL string `json:"url,omitempty"`
	// +optional
	VolumeBackingImageName string `json:"volumeBackingImageName,omitempty"`
	// +optional
	VolumeCreated string `json:"volumeCreated,omitempty"`
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// +optional
	VolumeSize string `json:"volumeSize,omitempty"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backups,shortName=lhb,scope=Namespaced,categories=longhorn

// Backup
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupSpec   `json:"spec,omitzero"`
	Status BackupStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupList is a list of Backup objects.
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Backup `json:"items"`
}
