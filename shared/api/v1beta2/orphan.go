package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OrphanSpec names exactly what is orphaned; im-monitor writes it once and it never changes. It is what an approval
// approves.
// +kubebuilder:pruning:PreserveUnknownFields
type OrphanSpec struct {
	// The data engine that runs the instance. Written by im-monitor; absent means v1, not set for replica
	// directories.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Node of the instance manager, or of the disk. Written by im-monitor; absent means unknown: only in objects of
	// old Longhorn versions.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// engine-instance, replica-instance, or replica for a replica directory. Written by im-monitor; absent means
	// unknown: only in objects of old Longhorn versions.
	// +optional
	OrphanType string `json:"orphanType,omitempty"`
	// For instances InstanceName, InstanceUUID and InstanceManager; for directories DataName, DiskName, DiskUUID,
	// DiskPath and DiskType. Written by im-monitor; absent means unknown: only in objects of old Longhorn versions.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
}

// OrphanStatus is the judgement (im-monitor), the decision (orphan-controller) and the evidence (im-monitor).
// +kubebuilder:pruning:PreserveUnknownFields
type OrphanStatus struct {
	// Judgement and evidence (Orphaned, InstanceState, Withdrawn, CleanupFailed) by im-monitor, decisions
	// (CleanupApproved, DeletionReason) by orphan-controller. Written by the writer of each type; absent means not
	// judged yet.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Node whose controller looks after it; kept for objects made by Longhorn. Written by Longhorn; absent means not
	// told.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor and orphan-controller; absent means
	// not told.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=orphans,shortName=lho,scope=Namespaced,categories=longhorn

// Orphan is one runtime instance, or one replica directory, that no object claims. Deleting the Orphan asks for its
// removal.
type Orphan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	// +optional
	Spec OrphanSpec `json:"spec,omitzero"`
	// What was seen and decided.
	// +optional
	Status OrphanStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// OrphanList is a list of Orphan objects.
type OrphanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Orphan `json:"items"`
}
