package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupTargetSpec is how to reach the target.
// +kubebuilder:pruning:PreserveUnknownFields
type BackupTargetSpec struct {
	// URL of the place. Written by a person; absent means no backups.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^(s3|azblob|nfs|cifs|file|vfs)://[^ ]+$")`,message="spec.backupTargetURL must be a URL of s3, azblob, nfs, cifs or file, such as s3://bucket@region/ or nfs://host:/path; empty is no target"
	// +optional
	BackupTargetURL string `json:"backupTargetURL,omitempty"`
	// Secret with the credentials. Written by a person; absent means none are needed.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="spec.credentialSecret must be the name of a Secret in the same namespace: lower-case letters, digits, - and ."
	// +optional
	CredentialSecret string `json:"credentialSecret,omitempty"`
	// How often the place is read, as a duration; 0 is never, unless spec.syncRequestedAt requests it. Written by a person; absent means 0.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self in ["", "0"] || self.matches("^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$")`,message="spec.pollInterval must be a duration, such as 5m, or 0 for never"
	// +optional
	PollInterval string `json:"pollInterval,omitempty"`
	// RFC 3339 time at which reading all of it again was requested. Written by a person; absent means never.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$")`,message="spec.syncRequestedAt must be an RFC 3339 time, such as 2026-01-31T09:30:00Z"
	// +optional
	SyncRequestedAt string `json:"syncRequestedAt,omitempty"`
}

// BackupTargetStatus is whether the place can be reached.
// +kubebuilder:pruning:PreserveUnknownFields
type BackupTargetStatus struct {
	// Whether it could be read at the last try. Written by snapshot-controller; absent means false.
	// +optional
	Available bool `json:"available,omitempty"`
	// RFC 3339 time at which it was read last. Written by snapshot-controller; absent means never.
	// +optional
	LastSyncedAt string `json:"lastSyncedAt,omitempty"`
	// Node whose controller manages it. Written by Longhorn; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Available by im-monitor is the result of engines that copied to it, Listed by snapshot-controller of its reading. Written by the
	// writer of each type; absent means that nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backuptargets,shortName=lhbt,scope=Namespaced,categories=longhorn
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.backupTargetURL`
// +kubebuilder:printcolumn:name="Available",type=boolean,JSONPath=`.status.available`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Last Synced",type=string,JSONPath=`.status.lastSyncedAt`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.spec.credentialSecret`,priority=1
// +kubebuilder:printcolumn:name="Poll Interval",type=string,JSONPath=`.spec.pollInterval`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].message`,priority=1
// +kubebuilder:printcolumn:name="Listed",type=string,JSONPath=`.status.conditions[?(@.type=="Listed")].reason`,priority=1

// BackupTarget is a place where backups go. The backups of volumes that it has are shown as BackupVolumes and Backups.
type BackupTarget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec BackupTargetSpec `json:"spec,omitzero"`
	// +optional
	Status BackupTargetStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupTargetList is a list of BackupTarget objects.
type BackupTargetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupTarget `json:"items"`
}
