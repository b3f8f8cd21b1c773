package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InstanceManagerSpec names node, data engine and image; im-monitor writes it when it creates the object.
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceManagerSpec struct {
	// The data engine that it runs. Written by im-monitor; absent means v1.
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// What only one data engine needs. Written by im-monitor; absent means nothing.
	// +optional
	DataEngineSpec DataEngineSpec `json:"dataEngineSpec,omitzero"`
	// Image of the pod. Written by im-monitor; absent means unknown.
	// +optional
	Image string `json:"image,omitempty"`
	// Node of the pod. Written by im-monitor; absent means unknown.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// What it runs: aio is engines and replicas; the others are of old Longhorn versions. Written by im-monitor;
	// absent means aio.
	// +kubebuilder:validation:Enum=aio;engine;replica
	// +optional
	Type string `json:"type,omitempty"`
}

// InstanceManagerStatus is what im-monitor observed of the pod and its instances.
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceManagerStatus struct {
	// Oldest version of the instance API that it serves. Written by im-monitor; absent means unknown.
	// +optional
	APIMinVersion int `json:"apiMinVersion,omitempty"`
	// Newest version of the instance API that it serves. Written by im-monitor; absent means unknown.
	// +optional
	APIVersion int `json:"apiVersion,omitempty"`
	// Backing images that it holds, by name. Written by Longhorn; absent means none.
	// +nullable
	// +optional
	BackingImages map[string]BackingImageOfInstanceManager `json:"backingImages,omitempty"`
	// The observations for people and peer controllers: NodeReady, PodReady, SettingSynced, Reachable, FrontendRecords. Written by
	// im-monitor; absent means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// running, stopped, starting, error or unknown. Written by im-monitor; absent means not checked yet.
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// What only one data engine reports. Written by im-monitor; absent means nothing.
	// +optional
	DataEngineStatus DataEngineStatus `json:"dataEngineStatus,omitzero"`
	// Frontends in its latest complete list, by name. Written by im-monitor; absent means none, or not read yet: see
	// the condition Reachable.
	// +nullable
	// +optional
	InstanceEngineFrontends map[string]InstanceProcess `json:"instanceEngineFrontends,omitempty"`
	// Engines in its latest complete list, by name. Written by im-monitor; absent means none, or not read yet: see the
	// condition Reachable.
	// +nullable
	// +optional
	InstanceEngines map[string]InstanceProcess `json:"instanceEngines,omitempty"`
	// Replicas in its latest complete list, by name. Written by im-monitor; absent means none, or not read yet: see the
	// condition Reachable.
	// +nullable
	// +optional
	InstanceReplicas map[string]InstanceProcess `json:"instanceReplicas,omitempty"`
	// Shard groups, by name; not used by Drover. Written by Longhorn; absent means none.
	// +nullable
	// +optional
	InstanceShardGroups map[string]InstanceProcess `json:"instanceShardGroups,omitempty"`
	// Shards, by name; not used by Drover. Written by Longhorn; absent means none.
	// +nullable
	// +optional
	InstanceShards map[string]InstanceProcess `json:"instanceShards,omitempty"`
	// IP of the pod; its services are on fixed ports there. Written by im-monitor; absent means no pod runs.
	// +optional
	IP string `json:"ip,omitempty"`
	// Node whose controller manages it: spec.nodeID while that node is not down, else the one that serves in its
	// place. Written by im-monitor; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Oldest version of the engine proxy API that it serves. Written by im-monitor; absent means unknown.
	// +optional
	ProxyAPIMinVersion int `json:"proxyApiMinVersion,omitempty"`
	// Newest version of the engine proxy API that it serves. Written by im-monitor; absent means unknown.
	// +optional
	ProxyAPIVersion int `json:"proxyApiVersion,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// DataEngineSpec is what only one data engine needs.
// +kubebuilder:pruning:PreserveUnknownFields
type DataEngineSpec struct {
	// What v2 needs. Written by im-monitor; absent means the settings' values.
	// +optional
	V2 V2DataEngineSpec `json:"v2,omitzero"`
}

// V2DataEngineSpec is how SPDK uses the CPU.
// +kubebuilder:pruning:PreserveUnknownFields
type V2DataEngineSpec struct {
	// Whether its cores are kept free of other work. Written by im-monitor; absent means the setting's value.
	// +kubebuilder:validation:Enum="";"true";"false"
	// +optional
	CPUIsolationEnabled string `json:"cpuIsolationEnabled,omitempty"`
	// Hexadecimal mask of its cores. Written by im-monitor; absent means the setting's value.
	// +optional
	CPUMask string `json:"cpuMask,omitempty"`
}

// BackingImageOfInstanceManager is a backing image in a v2 instance manager.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageOfInstanceManager struct {
	// SHA-512 of its content. Written by Longhorn; absent means not computed.
	// +optional
	CurrentChecksum string `json:"currentChecksum,omitempty"`
	// Disk that holds it. Written by Longhorn; absent means unknown.
	// +optional
	DiskUUID string `json:"diskUUID,omitempty"`
	// Sentence on its state. Written by Longhorn; absent means nothing.
	// +optional
	Message string `json:"message,omitempty"`
	// Its name. Written by Longhorn; absent means unknown.
	// +optional
	Name string `json:"name,omitempty"`
	// Progress in per cent. Written by Longhorn; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// Bytes of it. Written by Longhorn; absent means 0.
	// +optional
	Size int64 `json:"size,omitempty"`
	// Its state. Written by Longhorn; absent means unknown.
	// +optional
	State string `json:"state,omitempty"`
	// UUID of the copy. Written by Longhorn; absent means unknown.
	// +optional
	UUID string `json:"uuid,omitempty"`
}

// DataEngineStatus is what only one data engine reports.
// +kubebuilder:pruning:PreserveUnknownFields
type DataEngineStatus struct {
	// What v2 reports. Written by im-monitor; absent means nothing.
	// +optional
	V2 V2DataEngineStatus `json:"v2,omitzero"`
}

// V2DataEngineStatus is how SPDK uses the CPU.
// +kubebuilder:pruning:PreserveUnknownFields
type V2DataEngineStatus struct {
	// Number of its cores. Written by im-monitor; absent means 0.
	// +optional
	CPUCoreNumber int64 `json:"cpuCoreNumber,omitempty"`
	// Hexadecimal mask of its cores. Written by im-monitor; absent means unknown.
	// +optional
	CPUMask string `json:"cpuMask,omitempty"`
	// Whether it waits for interrupts instead of polling. Written by im-monitor; absent means unknown.
	// +kubebuilder:validation:Enum="";"true";"false"
	// +optional
	InterruptModeEnabled string `json:"interruptModeEnabled,omitempty"`
}

// InstanceProcess is one instance as its instance manager lists it.
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceProcess struct {
	// What it was created as. Written by im-monitor; absent means unknown.
	// +optional
	Spec InstanceProcessSpec `json:"spec,omitzero"`
	// How it is. Written by im-monitor; absent means unknown.
	// +optional
	Status InstanceProcessStatus `json:"status,omitzero"`
}

// InstanceProcessSpec is what an instance was created as.
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceProcessSpec struct {
	// The data engine that runs it. Written by im-monitor; absent means v1.
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Its name: that of its Engine, EngineFrontend or Replica. Written by im-monitor; absent means unknown.
	// +optional
	Name string `json:"name,omitempty"`
}

// InstanceProcessStatus is how an instance is.
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceProcessStatus struct {
	// Address of the path that carries I/O (frontends). Written by im-monitor; absent means none.
	// +optional
	ActivePath string `json:"activePath,omitempty"`
	// What the data engine reports beyond the state. Written by im-monitor; absent means nothing.
	// +nullable
	// +optional
	Conditions map[string]bool `json:"conditions,omitempty"`
	// Path of the block device, or URL of the target, that it shows. Written by im-monitor; absent means nothing is
	// shown.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// Sentence on why it is in error. Written by im-monitor; absent means it is not.
	// +optional
	ErrorMsg string `json:"errorMsg,omitempty"`
	// Kind of frontend that it shows. Written by im-monitor; absent means none.
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// Address that it listens on; kept for objects that Longhorn created. Written by Longhorn; absent means unknown.
	// +optional
	Listen string `json:"listen,omitempty"`
	// All paths to targets (frontends). Written by im-monitor; absent means none.
	// +optional
	Paths []NvmeTCPPath `json:"paths,omitempty"`
	// Last port of it. Written by im-monitor; absent means none.
	// +optional
	PortEnd int32 `json:"portEnd,omitempty"`
	// First port of it; its data path listens here. Written by im-monitor; absent means none.
	// +optional
	PortStart int32 `json:"portStart,omitempty"`
	// Address of the path that must carry I/O (frontends). Written by im-monitor; absent means unknown.
	// +optional
	PreferredPath string `json:"preferredPath,omitempty"`
	// Counter of old Longhorn versions; not used by Drover. Written by Longhorn; absent means 0.
	// +optional
	ResourceVersion int64 `json:"resourceVersion,omitempty"`
	// State that the instance manager reports: starting, running, suspended, stopping, stopped, error, pending or
	// terminating. Written by im-monitor; absent means unknown.
	// +optional
	State string `json:"state,omitempty"`
	// Last port of its target. Written by im-monitor; absent means none.
	// +optional
	TargetPortEnd int32 `json:"targetPortEnd,omitempty"`
	// First port of its target. Written by im-monitor; absent means none.
	// +optional
	TargetPortStart int32 `json:"targetPortStart,omitempty"`
	// engine, replica or engine-frontend. Written by im-monitor; absent means unknown.
	// +optional
	Type string `json:"type,omitempty"`
	// Number of its ublk device. Written by im-monitor; absent means it has none.
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// UUID of the runtime instance. Written by im-monitor; absent means the server does not report it.
	// +optional
	UUID string `json:"uuid,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=instancemanagers,shortName=lhim,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.type`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:selectablefield:JSONPath=`.status.currentState`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.currentState`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="IP",type=string,JSONPath=`.status.ip`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="PodReady")].reason`
// +kubebuilder:printcolumn:name="Reachable",type=string,JSONPath=`.status.conditions[?(@.type=="Reachable")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="API",type=integer,JSONPath=`.status.apiVersion`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="PodReady")].message`,priority=1
// +kubebuilder:printcolumn:name="Answer",type=string,JSONPath=`.status.conditions[?(@.type=="Reachable")].message`,priority=1

// InstanceManager is the pod of one node and data engine that runs engines and replicas. im-monitor creates and
// deletes it.
type InstanceManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec InstanceManagerSpec `json:"spec,omitzero"`
	// +optional
	Status InstanceManagerStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// InstanceManagerList is a list of InstanceManager objects.
type InstanceManagerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InstanceManager `json:"items"`
}
