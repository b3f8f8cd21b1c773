package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VolumeAttachmentSpec holds the tickets of all parties that want the volume attached.
// +kubebuilder:validation:XValidation:rule=`self.volume == oldSelf.volume`,message="spec.volume is immutable: each volume has a VolumeAttachment of its own name, put the ticket there"
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeAttachmentSpec struct {
	// The tickets, by id. A writer patches only its own key. Written by everybody who wants the volume
	// attached; absent means that no ticket exists.
	// +kubebuilder:validation:MaxProperties=4096
	// +kubebuilder:validation:XValidation:rule=`self.all(key, self[key].?id.orValue("") == key || (oldSelf.hasValue() && key in oldSelf.value() && oldSelf.value()[key] == self[key]))`,message="the key of a ticket in spec.attachmentTickets must be its id",optionalOldSelf=true
	// +optional
	AttachmentTickets map[string]AttachmentTicket `json:"attachmentTickets,omitempty"`
	// Volume that the tickets are for. It never changes. Written by everybody who wants the volume attached.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Volume string `json:"volume"`
}

// VolumeAttachmentStatus holds the answers to the tickets.
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeAttachmentStatus struct {
	// The answer to each ticket, by the ticket's id. Written by attach-controller; absent means not evaluated
	// yet.
	// +optional
	AttachmentTicketStatuses map[string]AttachmentTicketStatus `json:"attachmentTicketStatuses,omitempty"`
	// Who holds the volume, what blocks it, and the next step: Ready. Written by the writer of each type; absent
	// means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// The id of the ticket that the volume is held for, or is being attached for; of several, the first in order; for a
	// ticket whose id is empty, its type. Written by attach-controller; absent means that no ticket holds the volume.
	// +optional
	Holder string `json:"holder,omitempty"`
	// Node that the volume is held on, or is being attached to. Written by attach-controller; absent means that no ticket
	// holds the volume.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// The metadata.generation that this status describes. Written by attach-controller; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AttachmentTicket is the request of one party to attach the volume to one node.
// +kubebuilder:pruning:PreserveUnknownFields
type AttachmentTicket struct {
	// Counts the changes of this ticket; the answer repeats it. Written by who wants the volume attached; absent
	// means 0.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// The key of this ticket in the map; it may be the empty string. Written by who wants the volume attached;
	// absent means the empty string.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ID string `json:"id,omitempty"`
	// Node that the volume must be attached to. Written by who wants the volume attached; absent means none: the
	// ticket waits with reason NoNode.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="nodeID of a ticket must be the name of a node: lower-case letters, digits, - and ."
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// disableFrontend ("true", "false", "any"), lastAttachedBy, ownerKind, ownerName, ownerUID, expiresAt (RFC
	// 3339). Written by who wants the volume attached; absent means frontend on, no owner to check.
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule=`!("disableFrontend" in self) || self["disableFrontend"] in ["", "true", "false", "any"]`,message="parameter disableFrontend of a ticket must be true, false or any"
	// +kubebuilder:validation:XValidation:rule=`!("expiresAt" in self) || self["expiresAt"] == "" || self["expiresAt"].size() > 10 && timestamp(self["expiresAt"]) > timestamp("1970-01-01T00:00:00Z")`,message="parameter expiresAt of a ticket must be an RFC 3339 time, such as 2026-01-31T09:30:00Z"
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// Who wants it, such as csi-attacher or snapshot-controller; it decides the priority. Written by who wants the
	// volume attached; absent means unknown: lowest priority.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self in ["", "csi-attacher", "longhorn-api", "snapshot-controller", "backup-controller", "volume-clone-controller", "salvage-controller", "share-manager-controller", "volume-restore-controller", "volume-eviction-controller", "volume-expansion-controller", "bim-ds-controller", "volume-rebuilding-controller", "longhorn-upgrader"]`,message="type of a ticket is not known: for an attachment by hand use longhorn-api; kubectl explain lhva.spec.attachmentTickets lists the others"
	// +optional
	Type string `json:"type,omitempty"`
}

// AttachmentTicketStatus is the answer to one ticket.
// +kubebuilder:pruning:PreserveUnknownFields
type AttachmentTicketStatus struct {
	// Why the ticket is satisfied or not: Satisfied; and what in it cannot be read: Valid. Written by attach-controller.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +required
	Conditions []Condition `json:"conditions"`
	// The generation of the ticket that this answers. Written by attach-controller; absent means 0.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// The key of this answer in the map: the ticket's id. Written by attach-controller; absent means the empty
	// string.
	// +optional
	ID string `json:"id,omitempty"`
	// Whether the volume is attached as the ticket asks. True only for what is stored. Written by attach-controller;
	// absent means false.
	// +required
	Satisfied bool `json:"satisfied"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=volumeattachments,shortName=lhva,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.volume`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volume`
// +kubebuilder:printcolumn:name="Holder",type=string,JSONPath=`.status.holder`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.nodeID`
// +kubebuilder:printcolumn:name="Satisfied",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name == self.spec.volume`,message="a VolumeAttachment has its volume's name: set metadata.name to spec.volume",optionalOldSelf=true

// VolumeAttachment holds the tickets of everybody who wants a volume attached, and the answers. It has its volume's
// name.
type VolumeAttachment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec VolumeAttachmentSpec `json:"spec"`
	// +optional
	Status VolumeAttachmentStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// VolumeAttachmentList is a list of VolumeAttachment objects.
type VolumeAttachmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VolumeAttachment `json:"items"`
}
