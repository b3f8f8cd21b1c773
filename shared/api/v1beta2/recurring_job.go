package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecurringJobSpec
// +kubebuilder:pruning:PreserveUnknownFields
type RecurringJobSpec struct {
	// +optional
	Concurrency int `json:"concurrency,omitempty"`
	// +optional
	Cron string `json:"cron,omitempty"`
	// +optional
	Groups []string `json:"groups,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// +optional
	Retain int `json:"retain,omitempty"`
	// +optional
	RetainAge string `json:"retainAge,omitempty"`
	// +kubebuilder:validation:Enum=count-based;age-based
	// +optional
	RetentionPolicy string `json:"retentionPolicy,omitempty"`
	// +kubebuilder:validation:Enum=snapshot;snapshot-force-create;snapshot-cleanup;snapshot-delete;backup;backup-force-create;filesystem-trim;system-backup
	// +optional
	Task string `json:"task,omitempty"`
}

// RecurringJobStatus
// +kubebuilder:pruning:PreserveUnknownFields
type RecurringJobStatus struct {
	// +optional
	ExecutionCount int `json:"executionCount,omitempty"`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
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
// +kubebuilder:resource:path=recurringjobs,shortName=lhrj,scope=Namespaced,categories=longhorn

// RecurringJob
type RecurringJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RecurringJobSpec   `json:"spec,omitzero"`
	Status RecurringJobStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// RecurringJobList is a list of RecurringJob objects.
type RecurringJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RecurringJob `json:"items"`
}
