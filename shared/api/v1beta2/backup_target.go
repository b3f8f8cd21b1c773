package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupTargetSpec
// +kubebuilder:pruning:PreserveUnknownFields
type BackupTargetSpec struct {
	// +optional
	BackupTargetURL string `json:"backupTargetURL,omitempty"`
	// +optional
	CredentialSecret string `json:"credentialSecret,omitempty"`
	// +optional
	PollInterval string `json:"pollInterval,omitempty"`
	// +optional
	SyncRequestedAt string `json:"syncRequestedAt,omitempty"`
}

// BackupTargetStatus
// +kubebuilder:pruning:PreserveUnknownFields
type BackupTargetStatus struct {
	// +optional
	Available bool `json:"available,omitempty"`
	// +optional
	LastSyncedAt string `json:"lastSyncedAt,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backuptargets,shortName=lhbt,scope=Namespaced,categories=longhorn

// BackupTarget
type BackupTarget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupTargetSpec   `json:"spec,omitzero"`
	Status BackupTargetStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupTargetList is a list of BackupTarget objects.
type BackupTargetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupTarget `json:"items"`
}
