package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeDataEngineUpgradeSpec names one node's upgrade. It never changes. Written by upgrade-controller.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable; delete this NodeDataEngineUpgrade, its DataEngineUpgradeManager makes a new one"
type NodeDataEngineUpgradeSpec struct {
	// NodeID names the node to upgrade.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	NodeID string `json:"nodeID"`
	// DataEngine is the data engine to upgrade; only v2 is upgraded by node.
	// +kubebuilder:validation:Enum=v2
	// +required
	DataEngine string `json:"dataEngine"`
	// InstanceManagerImage is the image of the instance manager that the node gets.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	InstanceManagerImage string `json:"instanceManagerImage"`
	// DataEngineUpgradeManager names the DataEngineUpgradeManager that this node's upgrade belongs to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	DataEngineUpgradeManager string `json:"dataEngineUpgradeManager"`
}

// NodeDataEngineUpgradeStatus is how far the node is; attach-controller and im-monitor act on the state. Written by
// upgrade-controller.
type NodeDataEngineUpgradeStatus struct {
	// OwnerID names the upgrade-controller that drives the upgrade. Absent means that none has begun it.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// ErrorMessage is a sentence on why the state is error or rolling-back. Absent means no error.
	// +optional
	ErrorMessage string `json:"errorMessage,omitempty"`
	// State is where the node's upgrade is. Absent means undefined: not begun.
	// +kubebuilder:validation:Enum=undefined;initializing;switching-over;detaching-replicas;upgrading-instance-manager;switching-back;rebuilding-replica;completed;rolling-back;error
	// +optional
	State string `json:"state,omitempty"`
	// StateSince is the RFC 3339 time, with fractions, at which State began; timeouts count from it or from ProgressedAt. Absent means
	// unknown.
	// +optional
	StateSince string `json:"stateSince,omitempty"`
	// ProgressedAt is the RFC 3339 time, with fractions, at which one more volume had done the step of State, or a rebuild
	// progressed; the timeout counts from it. Absent means not yet in State.
	// +optional
	ProgressedAt string `json:"progressedAt,omitempty"`
	// Furthest is the largest number of volumes that had done the step of State, or were detached, at once; only more of them are
	// progress. Absent means 0.
	// +optional
	Furthest int `json:"furthest,omitempty"`
	// Volume names the volume that the present step waits for, the first where there are several. Absent means none.
	// +optional
	Volume string `json:"volume,omitempty"`
	// Progress is how many of the volumes have done the present step, as 2/3, and while replicas are rebuilt how far that of
	// status.volume is, as 2/3 40%. Absent means that the step is not about volumes.
	// +optional
	Progress string `json:"progress,omitempty"`
	// Volumes holds the volumes that the upgrade concerns, by name. Absent means not listed yet. It has one writer and hundreds of entries:
	// atomic keeps the owner of each field of each entry out of the object, which would be as large again.
	// +mapType=atomic
	// +optional
	Volumes map[string]VolumeUpgradeStatus `json:"volumes,omitempty"`
	// OldInstanceManager is the instance manager to be replaced; im-monitor deletes exactly this one. Absent means
	// that there is none, or that it was not chosen yet.
	// +optional
	OldInstanceManager *InstanceManagerReference `json:"oldInstanceManager,omitempty"`
	// ObservedGeneration is the metadata.generation that the status describes. Absent means none yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions state what the node waits for. Types: Preflight, Progressing, Stalled, Completed.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// StartedAt is the RFC 3339 time at which the upgrade of the node began. Absent means not begun.
	// +optional
	StartedAt string `json:"startedAt,omitempty"`
	// CompletedAt is the RFC 3339 time at which the upgrade of the node ended. Absent means not ended.
	// +optional
	CompletedAt string `json:"completedAt,omitempty"`
}

// VolumeUpgradeStatus is the progress of one volume in the node's upgrade.
type VolumeUpgradeStatus struct {
	// State is the step that the volume is at. Absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
	// Message is a sentence on what the volume waits for, where State does not state it. Absent means nothing beyond State.
	// +optional
	Message string `json:"message,omitempty"`
	// OriginalNodeID names the node of the volume's target before the upgrade. Absent means that it has no target here.
	// +optional
	OriginalNodeID string `json:"originalNodeID,omitempty"`
	// TemporaryNodeID names the node that holds the target meanwhile. Absent means that the target does not move.
	// +optional
	TemporaryNodeID string `json:"temporaryNodeID,omitempty"`
	// Replica names the volume's replica on the node, which attach-controller takes out. Absent means that there is none.
	// +optional
	Replica string `json:"replica,omitempty"`
	// Progress is how much of all replicas of the volume is there while they are rebuilt, in per cent, written in steps of ten unless
	// it is slow. Absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// Rebuilt is the sum of the per cents of which Progress is the quotient: each per cent of a replica is progress. Absent means Progress
	// times the number of replicas.
	// +optional
	Rebuilt int `json:"rebuilt,omitempty"`
	// Snapshot names the snapshot that was taken before the target moved. Absent means none.
	// +optional
	Snapshot string `json:"snapshot,omitempty"`
}

// InstanceManagerReference names one InstanceManager for good: a later one of the same name has another UID.
type InstanceManagerReference struct {
	// Name is the InstanceManager's name.
	// +required
	Name string `json:"name"`
	// UID is the InstanceManager's metadata.uid.
	// +required
	UID string `json:"uid"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=nodedataengineupgrades,shortName=lhnu,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngineUpgradeManager`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.stateSince`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.status.volume`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Progressing")].reason`
// +kubebuilder:printcolumn:name="Stalled",type=string,JSONPath=`.status.conditions[?(@.type=="Stalled")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Manager",type=string,JSONPath=`.spec.dataEngineUpgradeManager`,priority=1
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.instanceManagerImage`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Progressing")].message`,priority=1

// NodeDataEngineUpgrade is the upgrade of one node's v2 data engine; a DataEngineUpgradeManager creates it.
type NodeDataEngineUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec NodeDataEngineUpgradeSpec `json:"spec"`
	// +optional
	Status NodeDataEngineUpgradeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// NodeDataEngineUpgradeList is a list of NodeDataEngineUpgrade objects.
type NodeDataEngineUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeDataEngineUpgrade `json:"items"`
}
