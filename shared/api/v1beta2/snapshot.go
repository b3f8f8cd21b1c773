package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SnapshotSpec
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotSpec struct {
	// +optional
	CreateSnapshot bool `json:"createSnapshot,omitempty"`
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Volume string `json:"volume,omitempty"`
}

// SnapshotStatus
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotStatus struct {
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// +optional
	ChecksumCalculatedAt string `json:"checksumCalculatedAt,omitempty"`
	// +nullable
	// +optional
	Children map[string]bool `json:"children,omitempty"`
	// +optional
	CreationTime string `json:"creationTime,omitempty"`
	// +optional
	Error string `json:"error,omitempty"`
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	MarkRemoved bool `json:"markRemoved,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// +optional
	Parent string `json:"parent,omitempty"`
	// +optional
	ReadyToUse bool `json:"readyToUse,omitempty"`
	// +optional
	RequestedTime string `json:"requestedTime,omitempty"`
	// +optional
	RestoreSize int64 `json:"restoreSize,omitempty"`
	// +optional
	Size int64 `json:"size,omitempty"`
	// +optional
	UserCreated bool `json:"userCreated,omitempty"`
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
// +kubebuilder:resource:path=snapshots,shortName=lhsnap,scope=Namespaced,categories=longhorn

// Snapshot
type Snapshot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SnapshotSpec   `json:"spec,omitzero"`
	Status SnapshotStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// SnapshotList is a list of Snapshot objects.
type SnapshotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Snapshot `json:"items"`
}
