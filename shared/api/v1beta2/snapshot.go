package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SnapshotSpec names the volume and states whether a snapshot is to be taken. It never changes.
// +kubebuilder:validation:XValidation:rule=`self.volume == oldSelf.volume`,message="spec.volume is immutable: create a new Snapshot for the other volume"
// +kubebuilder:validation:XValidation:rule=`self.?createSnapshot.orValue(false) == oldSelf.?createSnapshot.orValue(false)`,message="spec.createSnapshot is immutable: create a new Snapshot with createSnapshot true to take one"
// +kubebuilder:validation:XValidation:rule=`(has(self.labels) && dyn(self.labels) != null && self.labels.size() > 0) == (has(oldSelf.labels) && dyn(oldSelf.labels) != null && oldSelf.labels.size() > 0) && (!(has(self.labels) && dyn(self.labels) != null && self.labels.size() > 0) || self.labels == oldSelf.labels)`,message="spec.labels is immutable, it is what the engine's snapshot was labelled with: use metadata.labels for labels of your own"
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotSpec struct {
	// Whether a snapshot must be taken; false describes one that the engine had already, and is what im-monitor
	// writes. Written by a person; absent means false.
	// +optional
	CreateSnapshot bool `json:"createSnapshot,omitempty"`
	// Labels that the snapshot gets in the engine; v2 drops them. Written by a person; absent means none.
	// +kubebuilder:validation:MaxProperties=256
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Volume that the snapshot is of. Written by a person.
	// +kubebuilder:validation:XValidation:rule=`self != ""`,message="spec.volume must be the name of a volume, not empty"
	// +kubebuilder:validation:MaxLength=253
	// +required
	Volume string `json:"volume"`
}

// SnapshotStatus is what snapshot-controller knows of the snapshot, from the Engine's status, except for the fields that name
// another writer.
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotStatus struct {
	// Checksum of its data. Written by Longhorn; absent means not computed.
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// RFC 3339 time at which the checksum was computed. Written by Longhorn; absent means never.
	// +optional
	ChecksumCalculatedAt string `json:"checksumCalculatedAt,omitempty"`
	// Names of what built on it when its status was written last, volume-head among them. One that was made since is not added: it names this
	// one as its parent, and then volume-head builds on it no more. Written by snapshot-controller; absent means none.
	// +nullable
	// +optional
	Children map[string]bool `json:"children,omitempty"`
	// RFC 3339 time at which it was taken. Written by snapshot-controller; absent means it was not taken yet.
	// +optional
	CreationTime string `json:"creationTime,omitempty"`
	// Sentence on why it is not ready. Written by snapshot-controller; absent means no error.
	// +optional
	Error string `json:"error,omitempty"`
	// Labels that it has in the engine. Written by snapshot-controller; absent means none.
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Whether it is only waiting for a purge. Written by snapshot-controller; absent means false.
	// +optional
	MarkRemoved bool `json:"markRemoved,omitempty"`
	// Node whose controller manages it; kept for objects that Longhorn created. Written by Longhorn; absent means unknown.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Name of the snapshot that it builds on. Written by snapshot-controller; absent means it is the first.
	// +optional
	Parent string `json:"parent,omitempty"`
	// Whether it can be restored from. Written by snapshot-controller; absent means false.
	// +optional
	ReadyToUse bool `json:"readyToUse,omitempty"`
	// RFC 3339 time at which taking it was approved, written before the call. Written by snapshot-controller; absent
	// means not approved yet.
	// +optional
	RequestedTime string `json:"requestedTime,omitempty"`
	// Bytes of a volume restored from it. Written by snapshot-controller; absent means 0, not known.
	// +optional
	RestoreSize int64 `json:"restoreSize,omitempty"`
	// Bytes of its own. Written by snapshot-controller; absent means 0, not known.
	// +optional
	Size int64 `json:"size,omitempty"`
	// Whether a person or a job asked for it, not the system. Written by snapshot-controller; absent means false.
	// +optional
	UserCreated bool `json:"userCreated,omitempty"`
	// The observations for people and peer controllers: Ready and RemovalApproved by snapshot-controller, Provisioned,
	// RemovalFailed and Withdrawn by im-monitor. Written by the writer of each type; absent means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// The metadata.generation that this status describes. Written by snapshot-controller; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=snapshots,shortName=lhsnap,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.volume`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volume`
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=`.status.readyToUse`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Created",type=string,JSONPath=`.status.creationTime`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="RestoreSize",type=integer,JSONPath=`.status.restoreSize`
// +kubebuilder:printcolumn:name="Removal",type=string,JSONPath=`.status.conditions[?(@.type=="RemovalApproved")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Parent",type=string,JSONPath=`.status.parent`,priority=1
// +kubebuilder:printcolumn:name="User Created",type=boolean,JSONPath=`.status.userCreated`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Removal Message",type=string,JSONPath=`.status.conditions[?(@.type=="RemovalApproved")].message`,priority=1

// Snapshot is one snapshot of a volume. Creating it takes one, deleting it removes the data.
type Snapshot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec SnapshotSpec `json:"spec"`
	// +optional
	Status SnapshotStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// SnapshotList is a list of Snapshot objects.
type SnapshotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Snapshot `json:"items"`
}
