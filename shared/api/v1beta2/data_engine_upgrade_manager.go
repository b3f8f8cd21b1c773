package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DataEngineUpgradeManagerSpec states which nodes get the new v2 data engine, and how. Written by a person.
// +kubebuilder:validation:XValidation:rule="self.dataEngine == oldSelf.dataEngine",message="spec.dataEngine is immutable; delete this DataEngineUpgradeManager and create a new one"
// +kubebuilder:validation:XValidation:rule="has(self.nodes) == has(oldSelf.nodes) && (!has(self.nodes) || self.nodes.map(node, node) == oldSelf.nodes.map(node, node))",message="spec.nodes is immutable; set spec.abort, then create a new DataEngineUpgradeManager for the other nodes"
type DataEngineUpgradeManagerSpec struct {
	// DataEngine is the data engine to upgrade. Only v2 is upgraded by node; it never changes.
	// +kubebuilder:validation:Enum=v2
	// +required
	DataEngine string `json:"dataEngine"`
	// Nodes names the nodes to upgrade, each once, in this order. Absent or empty means all nodes; it never changes.
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.all(node, node != "")`,message="a node in spec.nodes must be the name of one, not empty; without spec.nodes all nodes are upgraded"
	// +listType=set
	// +optional
	Nodes []string `json:"nodes,omitempty"`
	// Paused stops the upgrade at the next safe point for as long as it is true. Absent means false.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// Abort ends the upgrade: a node whose pod was not replaced yet is rolled back, one whose pod was replaced is finished.
	// Absent means false.
	// +optional
	Abort bool `json:"abort,omitempty"`
	// KeepSnapshots keeps the snapshots that the upgrade takes of each volume. Absent means that they are deleted.
	// +optional
	KeepSnapshots bool `json:"keepSnapshots,omitempty"`
	// Timeouts holds how long a node may stay in a state without progress, by the state's name, as durations such as 10m.
	// A state that is absent has the default of upgrade-controller. For rebuilding-replica, it is at least the time in
	// which one per cent of the largest volume that is not whole is copied at 1 MB/s.
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(state, state in ['initializing', 'switching-over', 'detaching-replicas', 'upgrading-instance-manager', 'switching-back', 'rebuilding-replica', 'rolling-back'])",message="the keys of spec.timeouts are states of a node: initializing, switching-over, detaching-replicas, upgrading-instance-manager, switching-back, rebuilding-replica, rolling-back"
	// +optional
	Timeouts map[string]StateTimeout `json:"timeouts,omitempty"`
	// SkipVolumes names volumes that the upgrade does not move; each must be detached when the upgrade of its node begins.
	// Absent means none.
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.all(volume, volume != "")`,message="a volume in spec.skipVolumes must be the name of one, not empty"
	// +listType=set
	// +optional
	SkipVolumes []string `json:"skipVolumes,omitempty"`
	// OnFailure is what happens after a node failed for good: Halt leaves the other nodes alone, Continue upgrades
	// them. Absent means Halt.
	// +kubebuilder:validation:Enum=Halt;Continue
	// +optional
	OnFailure string `json:"onFailure,omitempty"`
	// MaxRetries is how often a failed node is tried again. Absent or 0 means never.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 100`,message="spec.maxRetries must be 0 to 100 further tries of a failed node; 0 is none"
	// +optional
	MaxRetries int `json:"maxRetries,omitempty"`
}

// StateTimeout is a positive duration of whole or decimal units, such as 90s, 10m or 1h30m.
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule=`self.matches("^([0-9]+([.][0-9]+)?(ms|s|m|h))+$")`,message="a timeout must be a duration with its unit (ms, s, m or h), such as 90s, 10m or 1h30m"
type StateTimeout string

// DataEngineUpgradeManagerStatus is how far the upgrade is. Written by upgrade-controller, except Rehearsals.
type DataEngineUpgradeManagerStatus struct {
	// OwnerID names the upgrade-controller that drives the upgrade. Absent means that none has begun it.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// InstanceManagerImage is the image that the nodes get, taken once from the setting default-instance-manager-image.
	// +optional
	InstanceManagerImage string `json:"instanceManagerImage,omitempty"`
	// ErrorMessage is a sentence on why the state is error. Absent means no error.
	// +optional
	ErrorMessage string `json:"errorMessage,omitempty"`
	// UpgradingNode names the node that is being upgraded now. Absent means none.
	// +optional
	UpgradingNode string `json:"upgradingNode,omitempty"`
	// Step is the state of the node that is being upgraded now. Absent means that none is.
	// +optional
	Step string `json:"step,omitempty"`
	// Progress is how many of the plan's nodes are finished, as 1/3. Absent means no plan yet.
	// +optional
	Progress string `json:"progress,omitempty"`
	// State is where the whole upgrade is. Absent means undefined: not begun.
	// +kubebuilder:validation:Enum=undefined;initializing;upgrading;completed;error;aborting;paused
	// +optional
	State string `json:"state,omitempty"`
	// UpgradeNodes holds the progress of each node of the plan, by the node's name. Absent means no plan yet.
	// +optional
	UpgradeNodes map[string]UpgradeNodeStatus `json:"upgradeNodes,omitempty"`
	// ExcludedNodes is why the plan leaves a node out although its v2 instance manager does not run the new image, by the
	// node's name. Absent means that there is none.
	// +optional
	ExcludedNodes map[string]string `json:"excludedNodes,omitempty"`
	// UpgradedNodes names the nodes that are finished, in the order in which they were. Absent means none.
	// +listType=atomic
	// +optional
	UpgradedNodes []string `json:"upgradedNodes,omitempty"`
	// RehearsalRequestedAt is the RFC 3339 time, with fractions, at which upgrade-controller asked each binary to try by dry-run
	// requests what the upgrade will have to write and delete. Absent means that it has not asked since the upgrade began, or
	// was resumed.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	RehearsalRequestedAt string `json:"rehearsalRequestedAt,omitempty"`
	// Rehearsals holds the answer of each binary, by the name of the binary, which writes its own entry and no other. Absent means
	// that none has answered.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Rehearsals map[string]UpgradeRehearsal `json:"rehearsals,omitempty"`
	// ObservedGeneration is the metadata.generation that the status describes. Absent means none yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions state what the upgrade waits for. Types: Preflight, Progressing, Stalled, Completed.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}

// UpgradeRehearsal is the answer of one binary to the request to try what an upgrade will have to write and delete. Written by that
// binary.
type UpgradeRehearsal struct {
	// RequestedAt is the rehearsalRequestedAt that the answer belongs to. With another value the answer counts for nothing.
	// +kubebuilder:validation:MaxLength=64
	// +required
	RequestedAt string `json:"requestedAt"`
	// User is the name by which the API server knows the binary. Absent means that the binary does not know it.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	User string `json:"user,omitempty"`
	// Tried is the number of dry-run requests that the binary sent. Absent means 0.
	// +optional
	Tried int `json:"tried,omitempty"`
	// Refused has a sentence for each kind of request that the API server refused: verb, object and the answer of the API
	// server. Absent means that it refused none.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Refused []string `json:"refused,omitempty"`
}

// UpgradeNodeStatus is how far one node of the plan is.
type UpgradeNodeStatus struct {
	// State is the state of the node's NodeDataEngineUpgrade. Absent means that its upgrade has not begun.
	// +optional
	State string `json:"state,omitempty"`
	// ErrorMessage is a sentence on why the node failed. Absent means no error.
	// +optional
	ErrorMessage string `json:"errorMessage,omitempty"`
	// RetryCount is how often the node was tried again. Absent means never.
	// +optional
	RetryCount int `json:"retryCount,omitempty"`
	// StartedAt is the RFC 3339 time at which the present try began. Absent means not begun.
	// +optional
	StartedAt string `json:"startedAt,omitempty"`
	// CompletedAt is the RFC 3339 time at which the node was finished. Absent means not finished.
	// +optional
	CompletedAt string `json:"completedAt,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=dataengineupgrademanagers,shortName=lhum,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.upgradingNode`
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.step`
// +kubebuilder:printcolumn:name="Preflight",type=string,JSONPath=`.status.conditions[?(@.type=="Preflight")].reason`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Progressing")].reason`
// +kubebuilder:printcolumn:name="Stalled",type=string,JSONPath=`.status.conditions[?(@.type=="Stalled")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.instanceManagerImage`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Progressing")].message`,priority=1

// DataEngineUpgradeManager upgrades the v2 data engine, one node after the other, under running volumes.
type DataEngineUpgradeManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec DataEngineUpgradeManagerSpec `json:"spec"`
	// +optional
	Status DataEngineUpgradeManagerStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// DataEngineUpgradeManagerList is a list of DataEngineUpgradeManager objects.
type DataEngineUpgradeManagerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DataEngineUpgradeManager `json:"items"`
}
