package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VolumeAttachmentSpec
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeAttachmentSpec struct {
	// +optional
	AttachmentTickets map[string]AttachmentTicket `json:"attachmentTickets,omitempty"`
	// +optional
	Volume string `json:"volume,omitempty"`
}

// VolumeAttachmentStatus
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeAttachmentStatus struct {
	// +optional
	AttachmentTicketStatuses map[string]AttachmentTicketStatus `json:"attachmentTicketStatuses,omitempty"`
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AttachmentTicket
// +kubebuilder:pruning:PreserveUnknownFields
type AttachmentTicket struct {
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// +optional
	ID string `json:"id,omitempty"`
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// +optional
	Type string `json:"type,omitempty"`
}

// AttachmentTicketStatus
// +kubebuilder:pruning:PreserveUnknownFields
type AttachmentTicketStatus struct {
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// +optional
	ID string `json:"id,omitempty"`
	// +optional
	Satisfied bool `json:"satisfied,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=volumeattachments,shortName=lhva,scope=Namespaced,categories=longhorn

// VolumeAttachment
type VolumeAttachment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   VolumeAttachmentSpec   `json:"spec,omitzero"`
	Status VolumeAttachmentStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// VolumeAttachmentList is a list of VolumeAttachment objects.
type VolumeAttachmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VolumeAttachment `json:"items"`
}
