package v1beta2

// InstanceCreation is the condition type of an Engine, an EngineFrontend and a Replica (writer im-monitor). It is False while the instance
// cannot be created, or when what was created failed; it is absent, or True, otherwise.
const InstanceCreation = "InstanceCreation"

// ExitNoUsableReplica is in the message of InstanceCreationFailure of a v1 engine that could use none of its replicas: each of them has an
// error, for instance another size. An engine whose replicas do not answer ends with exit status 1.
const ExitNoUsableReplica = "exit status 61"

// Reasons of InstanceCreation.
const (
	// ReasonInstanceCreated surfaces when the instance runs after a creation that failed.
	ReasonInstanceCreated = "InstanceCreated"
	// ReasonInstanceCreationFailure surfaces when the instance was created and failed; the message has its last words.
	ReasonInstanceCreationFailure = "InstanceCreationFailure"
	// ReasonStartRefused surfaces when the instance manager repeatedly declined to create it.
	ReasonStartRefused = "StartRefused"
	// ReasonSpecIncomplete surfaces while the spec lacks what a creation needs.
	ReasonSpecIncomplete = "SpecIncomplete"
	// ReasonVolumeMissing surfaces while the Volume does not exist: its instances cannot be created without it.
	ReasonVolumeMissing = "VolumeMissing"
	// ReasonDataMissing surfaces while a v2 replica that was whole has no data on its disk: no empty one is created in its place.
	ReasonDataMissing = "DataMissing"
	// ReasonEngineImageUnknown surfaces while no EngineImage states which flags the processes of the image understand.
	ReasonEngineImageUnknown = "EngineImageUnknown"
	// ReasonEngineImageNotDeployed surfaces while the EngineImage is not deployed on the node.
	ReasonEngineImageNotDeployed = "EngineImageNotDeployed"
	// ReasonInstanceManagerCannotStart surfaces while no instance manager of the node runs, and the pod of the wanted one cannot start.
	ReasonInstanceManagerCannotStart = "InstanceManagerCannotStart"
	// ReasonInstanceWithoutObject surfaces while an engine or frontend of the volume that no object shows may still run: a person deletes its
	// Orphan, see the message.
	ReasonInstanceWithoutObject = "InstanceWithoutObject"
)

// FrontendSwitchover is the condition type of an EngineFrontend (writer im-monitor). It is False while a switch-over to another target
// cannot begin or continue; it is absent, or True, otherwise.
const FrontendSwitchover = "Switchover"

// Reasons of FrontendSwitchover.
const (
	// ReasonGoesOn surfaces when a switch-over that waited continues, has ended, or is not wanted any more.
	ReasonGoesOn = "GoesOn"
	// ReasonSwitchoverUnsupported surfaces while another target is wanted, and no server switches a frontend of its kind over.
	ReasonSwitchoverUnsupported = "SwitchoverUnsupported"
	// ReasonNodeBusy surfaces while a v2 disk is being loaded where the switch-over is about to begin.
	ReasonNodeBusy = "NodeBusy"
	// ReasonEngineRebuilding surfaces while the engine that the frontend is to leave rebuilds a replica.
	ReasonEngineRebuilding = "EngineRebuilding"
	// ReasonTargetUnknown surfaces while neither the old nor the new engine is known to serve alone.
	ReasonTargetUnknown = "TargetUnknown"
)

// EngineOperations is the condition type of an Engine (writer im-monitor). It is False while an operation that its spec asks for failed
// in the running engine and is tried again; it is absent, or True, otherwise.
const EngineOperations = "Operations"

// Reasons of EngineOperations.
const (
	// ReasonNoOperationFails surfaces when the failed operation has succeeded, or is not wanted any more.
	ReasonNoOperationFails = "NoOperationFails"
	// ReasonOperationFailed surfaces while an operation fails; the message has each operation and the engine's answer.
	ReasonOperationFailed = "OperationFailed"
)

// WaitForBackingImage is the condition type of a Replica (writer im-monitor). It is True while the replica cannot start because the copy of
// its backing image is not on its disk.
const WaitForBackingImage = "WaitForBackingImage"

// Reasons of WaitForBackingImage.
const (
	// ReasonWaiting surfaces while the copy on the replica's disk is not ready.
	ReasonWaiting = "Waiting"
	// ReasonGetBackingImageFailed surfaces while the BackingImage does not exist.
	ReasonGetBackingImageFailed = "GetBackingImageFailed"
	// ReasonBackingImageReady surfaces when the replica does not wait any more.
	ReasonBackingImageReady = "BackingImageReady"
)

// States of a copy of a backing image (BackingImage.status.diskFileStatusMap), beside those on the way.
const (
	BackingImageStateReady  = "ready"
	BackingImageStateFailed = "failed"
)
