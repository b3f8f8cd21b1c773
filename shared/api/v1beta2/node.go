package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeSpec is how a person wants a node to be used.
// +kubebuilder:pruning:PreserveUnknownFields
type NodeSpec struct {
	// Whether new replicas may be placed on the node. Written by a person; absent means false.
	// +optional
	AllowScheduling bool `json:"allowScheduling,omitempty"`
	// Its disks, by a name of their own; status.diskStatus has the same keys. Written by a person, or
	// disk-controller if there are none; absent means none.
	// +kubebuilder:validation:MaxProperties=128
	// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.all(a, !has(self[a].path) || self[a].path == "" || self.exists_one(b, has(self[b].path) && self[b].path == self[a].path))`,message="two disks of a node must not have the same path: each would count its space once more; remove one of them",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule=`self.all(a, !has(self[a].path) || self[a].path == "" || self.exists_one(b, has(self[b].path) && self[b].path == self[a].path)) || !oldSelf.all(a, !has(oldSelf[a].path) || oldSelf[a].path == "" || oldSelf.exists_one(b, has(oldSelf[b].path) && oldSelf[b].path == oldSelf[a].path))`,message="two disks of a node must not have the same path: each would count its space once more; remove one of them"
	// +optional
	Disks map[string]DiskSpec `json:"disks,omitempty"`
	// Whether all replicas must leave the node; its orphans are deleted, too. Written by a person; absent means
	// false.
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
	// CPU that its instance-manager pods ask for, in thousandths of a core. Written by a person; absent means 12 %
	// of what the node can allocate.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 1000000`,message="spec.instanceManagerCPURequest must be 0 to 1000000 thousandths of a core, such as 500 for half a core; 0 is the default"
	// +optional
	InstanceManagerCPURequest int `json:"instanceManagerCPURequest,omitempty"`
	// Name of the Kubernetes node. Written by a person; absent means metadata.name.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="spec.name must be the name of a Kubernetes node: lower-case letters, digits, - and ."
	// +optional
	Name string `json:"name,omitempty"`
	// Tags that volumes may select nodes by. Written by a person, or disk-controller if there are none; absent means
	// none.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(tag, tag != "")`,message="a tag in spec.tags must not be empty"
	// +optional
	Tags []string `json:"tags,omitempty"`
	// Whether the node's data engine is being upgraded: it takes no new replica or attachment, and no new engine but
	// the switch-back's. Written by upgrade-controller; absent means false.
	// +optional
	UpgradeRequested bool `json:"upgradeRequested,omitempty"`
}

// NodeStatus is what im-monitor knows about a node, except for the fields that name another writer.
// +kubebuilder:pruning:PreserveUnknownFields
type NodeStatus struct {
	// Instances on the node whose Engine or Replica was released before their end was proven, as when the volume was
	// deleted while the node
	// was down, by the instance's name. Auto deletion of orphans takes an instance of a volume of which no object is
	// left only if it is
	// recorded here with its UUID and data engine. An entry is written in the step before the finalizer goes, and
	// removed once no instance
	// manager of the node lists the instance any more. Written by attach-controller; absent means none.
	// +nullable
	// +optional
	AbandonedInstances map[string]AbandonedInstance `json:"abandonedInstances,omitempty"`
	// Whether replicas leave the node because it is cordoned, by the setting node-drain-policy. Written by im-monitor;
	// absent means false.
	// +optional
	AutoEvicting bool `json:"autoEvicting,omitempty"`
	// What people and peer controllers need to know; Ready=False with reason KubernetesNodeGone or KubernetesNodeNotReady
	// means that the node is down. Written by the writer of each type; absent means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Policy of the kubelet's CPU manager. Written by Longhorn; absent means unknown.
	// +optional
	CPUPolicy string `json:"cpuPolicy,omitempty"`
	// State of each disk, by the key of spec.disks; v2 disks by im-monitor, v1 disks by disk-controller. Written by
	// im-monitor and disk-controller; absent means unknown: no replica is placed there.
	// +nullable
	// +optional
	DiskStatus map[string]DiskStatus `json:"diskStatus,omitempty"`
	// How many of the disks in spec.disks are ready, of how many, such as 2/3, for people. Written by im-monitor;
	// absent means that there is none.
	// +optional
	DisksReady string `json:"disksReady,omitempty"`
	// Region of the node, from its label topology.kubernetes.io/region. Written by im-monitor; absent means none.
	// +optional
	Region string `json:"region,omitempty"`
	// When the snapshots of the node were checked. Written by Longhorn; absent means never.
	// +optional
	SnapshotCheckStatus SnapshotCheckStatus `json:"snapshotCheckStatus,omitzero"`
	// Free space of the ready disks and their size, in whole GiB such as 120Gi/500Gi, for people. Written by im-monitor;
	// absent means that there is no disk.
	// +optional
	Storage string `json:"storage,omitempty"`
	// Zone of the node, from its label topology.kubernetes.io/zone. Written by im-monitor; absent means none.
	// +optional
	Zone string `json:"zone,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AbandonedInstance is one instance whose Engine or Replica was released before its end was proven: it may still run.
// +kubebuilder:pruning:PreserveUnknownFields
type AbandonedInstance struct {
	// UUID of the instance, as the newest list of its instance manager shows it. Written by attach-controller; never
	// absent.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// v1 or v2. Written by attach-controller; never absent.
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// UID of the Volume that it belonged to. Written by attach-controller; absent means that its object named none.
	// +optional
	VolumeUID string `json:"volumeUID,omitempty"`
	// RFC 3339 time at which it was abandoned. Written by attach-controller; never absent.
	// +optional
	At string `json:"at,omitempty"`
}

// SnapshotCheckStatus is when the snapshots of a node were checked.
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotCheckStatus struct {
	// RFC 3339 time of the last regular check. Written by Longhorn; absent means never.
	// +optional
	LastPeriodicCheckedAt string `json:"lastPeriodicCheckedAt,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=nodes,shortName=lhn,scope=Namespaced,categories=longhorn
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Allow Scheduling",type=boolean,JSONPath=`.spec.allowScheduling`
// +kubebuilder:printcolumn:name="Schedulable",type=string,JSONPath=`.status.conditions[?(@.type=="Schedulable")].status`
// +kubebuilder:printcolumn:name="Evicting",type=boolean,JSONPath=`.spec.evictionRequested`
// +kubebuilder:printcolumn:name="Upgrading",type=boolean,JSONPath=`.spec.upgradeRequested`
// +kubebuilder:printcolumn:name="Disks",type=string,JSONPath=`.status.disksReady`
// +kubebuilder:printcolumn:name="Free",type=string,JSONPath=`.status.storage`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zone`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1

// Node is one Kubernetes node as storage: its disks, and whether it may hold replicas.
type Node struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec NodeSpec `json:"spec,omitzero"`
	// +optional
	Status NodeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// NodeList is a list of Node objects.
type NodeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Node `json:"items"`
}
