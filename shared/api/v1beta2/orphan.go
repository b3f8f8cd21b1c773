package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OrphanSpec names exactly what is orphaned; im-monitor writes it once and it never changes. It is what an approval
// approves.
// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message="spec is immutable: it names exactly what was evaluated; delete this Orphan, another instance gets an Orphan of its own"
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?orphanType.orValue("") in ['engine-instance', 'replica-instance', 'replica']`,message="spec.orphanType must be engine-instance, replica-instance, or replica for a replica directory",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?nodeID.orValue("") != ""`,message="spec.nodeID must name the node of the instance or the directory",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || !(self.?orphanType.orValue("") in ['engine-instance', 'replica-instance']) || (self.?parameters[?'InstanceName'].orValue("") != "" && self.?parameters[?'InstanceUUID'].orValue("") != "" && self.?parameters[?'InstanceManager'].orValue("") != "" && self.?dataEngine.orValue("") != "")`,message="an orphan of an instance needs spec.dataEngine and the parameters InstanceName, InstanceUUID and InstanceManager, none of them empty: without the UUID it cannot be distinguished from its successor",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?orphanType.orValue("") != 'replica' || (self.?parameters[?'DataName'].orValue("") != "" && self.?parameters[?'DiskName'].orValue("") != "" && self.?parameters[?'DiskUUID'].orValue("") != "" && self.?parameters[?'DiskPath'].orValue("") != "" && self.?parameters[?'DiskType'].orValue("") != "")`,message="an orphan of a replica directory needs the parameters DataName, DiskName, DiskUUID, DiskPath and DiskType, none of them empty",optionalOldSelf=true
// +kubebuilder:pruning:PreserveUnknownFields
type OrphanSpec struct {
	// The data engine that runs the instance, or that has the data. Written by im-monitor; absent means v1, not set for
	// replica directories.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Node of the instance manager, or of the disk. Written by im-monitor; absent means unknown: only in objects of
	// old Longhorn versions.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// engine-instance, replica-instance, or replica for the data of a replica: a directory (v1), or what a block disk
	// holds of it (v2). Written by im-monitor; absent means
	// unknown: only in objects of old Longhorn versions.
	// +optional
	OrphanType string `json:"orphanType,omitempty"`
	// For instances InstanceName, InstanceUUID and InstanceManager; for data DataName, DiskName (the key of
	// Node.spec.disks), DiskUUID, DiskPath and DiskType. Written by im-monitor; absent means unknown: only in objects of
	// old Longhorn versions.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
}

// OrphanStatus is the evaluation (im-monitor), the decision (orphan-controller) and the evidence (im-monitor).
// +kubebuilder:pruning:PreserveUnknownFields
type OrphanStatus struct {
	// Evaluation and evidence (Orphaned, InstanceState, DataCleanable, Withdrawn, CleanupFailed, Error) by im-monitor, decisions
	// (CleanupApproved, DeletionReason) by orphan-controller. Written by the writer of each type; absent means not
	// evaluated yet.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Node of the instance, kept for readers of Longhorn's objects; Drover does not read it. Written by im-monitor; absent
	// means unknown.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor and orphan-controller; absent means
	// unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=orphans,shortName=lho,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.orphanType`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.orphanType`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="Instance",type=string,JSONPath=`.spec.parameters.InstanceName`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="InstanceState")].reason`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Orphaned")].reason`
// +kubebuilder:printcolumn:name="Decision",type=string,JSONPath=`.status.conditions[?(@.type=="CleanupApproved")].reason`
// +kubebuilder:printcolumn:name="Failed",type=string,JSONPath=`.status.conditions[?(@.type=="CleanupFailed")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Withdrawn",type=string,JSONPath=`.status.conditions[?(@.type=="Withdrawn")].reason`,priority=1
// +kubebuilder:printcolumn:name="Deleted By",type=string,JSONPath=`.status.conditions[?(@.type=="DeletionReason")].reason`,priority=1
// +kubebuilder:printcolumn:name="UUID",type=string,JSONPath=`.spec.parameters.InstanceUUID`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="CleanupApproved")].message`,priority=1
// +kubebuilder:printcolumn:name="Failure",type=string,JSONPath=`.status.conditions[?(@.type=="CleanupFailed")].message`,priority=1
// +kubebuilder:printcolumn:name="Evaluation",type=string,JSONPath=`.status.conditions[?(@.type=="Orphaned")].message`,priority=1

// Orphan is one runtime instance, or the data of one replica, that no object claims. Deleting the Orphan requests its
// removal.
type Orphan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec OrphanSpec `json:"spec"`
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
