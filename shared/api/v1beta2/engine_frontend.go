package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EngineFrontendSpec is the initiator that attach-controller wants; the only writer.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineFrontendSpec struct {
	// Whether this is the frontend that the volume uses; the other one of a migration is not. Written by
	// attach-controller; absent means false.
	// +optional
	Active bool `json:"active,omitempty"`
	// The data engine that runs it; only v2 has frontends. Written by attach-controller; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Whether it must be running or stopped. Written by attach-controller; absent means stopped.
	// +optional
	DesireState string `json:"desireState,omitempty"`
	// Whether the volume is attached without a block device. Written by attach-controller; absent means false.
	// +optional
	DisableFrontend bool `json:"disableFrontend,omitempty"`
	// Engine that it must be connected to. Written by attach-controller; absent means none.
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// What it exposes on its node: a block device (blockdev, ublk) or an NVMe-oF target. Written by attach-controller;
	// absent means nothing.
	// +kubebuilder:validation:Enum=blockdev;iscsi;nvmf;ublk;""
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// Image of the instance manager to run it. Written by attach-controller; absent means none.
	// +optional
	Image string `json:"image,omitempty"`
	// Whether its log must be fetched. Written by Longhorn; absent means false.
	// +optional
	LogRequested bool `json:"logRequested,omitempty"`
	// Node that it must run on: where the volume is attached. Written by attach-controller; absent means nowhere.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// Number of I/O queues to the target. Written by attach-controller; absent means the data engine's default.
	// +optional
	NvmeTCPNrIOQueues int `json:"nvmeTcpNrIoQueues,omitempty"`
	// Whether it must start although the replicas had failed. Written by attach-controller; absent means false.
	// +optional
	SalvageRequested bool `json:"salvageRequested,omitempty"`
	// Size in bytes, as a decimal string. Written by attach-controller; absent means 0, not known.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	Size int64 `json:"size,omitempty,string"`
	// When suspending all I/O was requested, in RFC 3339 with nanoseconds: the volume fails over to another target, which would
	// lack whatever the old target still acknowledges. Its user waits meanwhile. Written by attach-controller; absent means that I/O is
	// not suspended.
	// +optional
	SuspendRequestedAt string `json:"suspendRequestedAt,omitempty"`
	// IP of the target that it must use: the engine's storageIP. Written by attach-controller; absent means the
	// target does not run yet.
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// Port of the target that it must use. Written by attach-controller; absent means the target does not run yet.
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
	// Number of queues of a ublk frontend. Written by attach-controller; absent means the data engine's default.
	// +optional
	UblkNumberOfQueue int `json:"ublkNumberOfQueue,omitempty"`
	// Depth of each queue of a ublk frontend. Written by attach-controller; absent means the data engine's default.
	// +optional
	UblkQueueDepth int `json:"ublkQueueDepth,omitempty"`
	// Volume that it belongs to. Written by attach-controller; absent means unknown.
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// Size of the volume in bytes, as a decimal string. Written by attach-controller; absent means 0, not known.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	VolumeSize int64 `json:"volumeSize,omitempty,string"`
}

// EngineFrontendStatus is what im-monitor observed of the initiator; the only writer, except for the fields that name another one.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineFrontendStatus struct {
	// Address of the target that the server has on record. While a switch-over is under way I/O may go elsewhere. Written by
	// im-monitor; absent means none.
	// +optional
	ActivePath string `json:"activePath,omitempty"`
	// The observations for people and peer controllers, one writer per type. Written by the writer of each type; absent means
	// nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Image that it runs with; of v2 that of its instance manager. Written by im-monitor; absent means it does not run.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// Size in bytes that it shows, as a decimal string. Written by im-monitor; absent means 0, not known.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	CurrentSize int64 `json:"currentSize,omitempty,string"`
	// Its observed state: running, suspended, stopped, error, starting, stopping, unknown or terminated. Written by
	// im-monitor; absent means not checked yet.
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// Path of the block device, or URL of the target, that it shows. Written by im-monitor; absent means nothing is
	// shown.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// InstanceManager that runs it. Written by im-monitor; absent means it does not run.
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// IP of the pod of that InstanceManager. Written by im-monitor; absent means it does not run.
	// +optional
	IP string `json:"ip,omitempty"`
	// Whether its log was fetched. Written by Longhorn; absent means false.
	// +optional
	LogFetched bool `json:"logFetched,omitempty"`
	// Node whose controller manages it: spec.nodeID while that node is not down, else the one that serves in its
	// place. Written by im-monitor; absent means it is stopped, or not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// All paths to targets, as the instance manager lists them: it changes them when a switch-over ends, and keeps the path
	// of a former engine as inaccessible. They do not report whether a target is open. Written by im-monitor; absent means none.
	// +optional
	Paths []NvmeTCPPath `json:"paths,omitempty"`
	// Port that it listens on. Written by im-monitor; absent means none.
	// +optional
	Port int `json:"port,omitempty"`
	// Address of the path that must carry I/O. Written by im-monitor; absent means unknown.
	// +optional
	PreferredPath string `json:"preferredPath,omitempty"`
	// Whether it was started although the replicas had failed. Written by im-monitor; absent means false.
	// +optional
	SalvageExecuted bool `json:"salvageExecuted,omitempty"`
	// Whether the instance was created for the present desireState. Written by im-monitor; absent means false.
	// +optional
	Started bool `json:"started,omitempty"`
	// Whether a create call may have been sent; it is written before the call. Written by im-monitor; absent means
	// false.
	// +optional
	Starting bool `json:"starting,omitempty"`
	// IP of its data path: that of the pod, or of the storage network. Written by im-monitor; absent means it does
	// not run.
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// The spec.suspendRequestedAt that was answered: since then I/O is suspended, as long as currentState is suspended. A frontend
	// that was resumed is not suspended again for the same request. Written by im-monitor; absent means none.
	// +optional
	SuspendedAt string `json:"suspendedAt,omitempty"`
	// The switch-over that is under way, beside its phase. Written by im-monitor; absent means none is.
	// +optional
	Switchover SwitchoverStatus `json:"switchover,omitzero"`
	// Phase of the switch-over to another target that is under way, or was accepted last: preparing, switching, promoting, or
	// reverting, which closes the new target and opens the old one again. It is written before the call, and removed once the server
	// has the new target on record, or the old one is open again. From switching on, I/O may go to an engine that is not on
	// record, and no other operation may be requested through the frontend. Written by im-monitor; absent means that no switch-over is
	// under way.
	// +optional
	SwitchoverPhase string `json:"switchoverPhase,omitempty"`
	// IP of the target that the server has on record. Written by im-monitor; absent means none.
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// Port of the target that the server has on record. Written by im-monitor; absent means none.
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
	// Number of its ublk device. Written by im-monitor; absent means it has none.
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// UUID of the runtime instance. Written by im-monitor; absent means it does not run, or the server does not report
	// it.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// SwitchoverInProgress reports whether I/O may go to an engine that is not the one on record, so that no operation may be requested
// through the frontend: its server would send that to the engine on record.
func (s *EngineFrontendStatus) SwitchoverInProgress() bool {
	return s.SwitchoverPhase != "" && (s.SwitchoverPhase != SwitchoverPreparing || s.Switchover.OldTargetClosed)
}

// The phases of a switch-over, in their order; reverting is the way back.
const (
	SwitchoverPreparing = "preparing"
	SwitchoverSwitching = "switching"
	SwitchoverPromoting = "promoting"
	SwitchoverReverting = "reverting"
)

// SwitchoverStatus is the switch-over of a frontend to the target of another engine: what its phase is about.
// +kubebuilder:pruning:PreserveUnknownFields
type SwitchoverStatus struct {
	// Whether the phase was accepted; while it is not, the call may or may not have been made, and is repeated. Written by
	// im-monitor; absent means false.
	// +optional
	Accepted bool `json:"accepted,omitempty"`
	// Engine whose target it leads to. Written by im-monitor; absent means none.
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// UID of that Engine object; another one of its name is another target. Written by im-monitor; absent means none.
	// +optional
	EngineUID string `json:"engineUID,omitempty"`
	// Whether the target on record may have been closed since this switch-over, or one before it that did not end, began.
	// Written by im-monitor; absent means false.
	// +optional
	OldTargetClosed bool `json:"oldTargetClosed,omitempty"`
	// When the phase began, in RFC 3339. Written by im-monitor; absent means unknown.
	// +optional
	Since string `json:"since,omitempty"`
	// IP of the target. Written by im-monitor; absent means none.
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// Port of the target. Written by im-monitor; absent means none.
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
	// Whether a phase before reverting was not answered: a server may execute it late and close the old target, so that this is
	// opened once more after the time that a call can last. Written by im-monitor; absent means false.
	// +optional
	Unanswered bool `json:"unanswered,omitempty"`
}

// NvmeTCPPath is one NVMe-over-TCP path from an initiator to a target.
// +kubebuilder:pruning:PreserveUnknownFields
type NvmeTCPPath struct {
	// State of the path as the kernel reports it: optimized, non-optimized or inaccessible. Written by im-monitor;
	// absent means unknown.
	// +optional
	ANAState string `json:"anaState,omitempty"`
	// Engine at the other end. Written by im-monitor; absent means unknown.
	// +optional
	EngineName string `json:"engineName,omitempty"`
	// Identifier of the NVMe namespace. Written by im-monitor; absent means unknown.
	// +optional
	NGUID string `json:"nguid,omitempty"`
	// Qualified name of the NVMe subsystem. Written by im-monitor; absent means unknown.
	// +optional
	NQN string `json:"nqn,omitempty"`
	// IP of the target. Written by im-monitor; absent means unknown.
	// +optional
	TargetIP string `json:"targetIP,omitempty"`
	// Port of the target. Written by im-monitor; absent means unknown.
	// +optional
	TargetPort int `json:"targetPort,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=enginefrontends,shortName=lhef,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.volumeName`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:selectablefield:JSONPath=`.spec.engineName`
// +kubebuilder:selectablefield:JSONPath=`.status.instanceManagerName`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.currentState`
// +kubebuilder:printcolumn:name="Wanted",type=string,JSONPath=`.spec.desireState`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.engineName`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.targetIP`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="NodeDown")].reason`
// +kubebuilder:printcolumn:name="Deleted",type=date,JSONPath=`.metadata.deletionTimestamp`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volumeName`,priority=1
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`,priority=1
// +kubebuilder:printcolumn:name="Switch-over",type=string,JSONPath=`.status.switchoverPhase`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="NodeDown")].message`,priority=1

// EngineFrontend is the initiator of a v2 volume on the node where it is attached; the Engine is its target, on that
// node or another one.
type EngineFrontend struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec EngineFrontendSpec `json:"spec,omitzero"`
	// +optional
	Status EngineFrontendStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// EngineFrontendList is a list of EngineFrontend objects.
type EngineFrontendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EngineFrontend `json:"items"`
}
