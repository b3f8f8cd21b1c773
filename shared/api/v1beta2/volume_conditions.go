package v1beta2

// Condition types of a Volume; writer attach-controller.
const (
	// VolumeAttached is True while the volume is usable on status.currentNodeID. Its reason states what is waited for.
	VolumeAttached = "Attached"
	// VolumeFaulted is True while the volume cannot continue: its engine failed, or no replica is usable.
	VolumeFaulted = "Faulted"
	// VolumeReverted states what became of the last spec.revertRequestedAt.
	VolumeReverted = "Reverted"
	// VolumeExpanded is False while the last expansion failed, and True once the volume has its size after that; absent means that none
	// ever failed.
	VolumeExpanded = "Expanded"
	// VolumeRemounted is False while a pod keeps a mount that lost its device; absent means that no pod is known to.
	VolumeRemounted = "Remounted"
)

// Reasons of VolumeRemounted.
const (
	// ReasonBackendNotReady surfaces while a pod with a dead mount stays, because no other pod could mount the volume: Service
	// longhorn-backend leads to no ready pod.
	ReasonBackendNotReady = "BackendNotReady"
)

// Reasons of VolumeExpanded.
const (
	// ReasonExpanded surfaces when the volume has its size after an expansion that had failed.
	ReasonExpanded = "Expanded"
	// ReasonExpansionFailed surfaces while the engine has not grown although it was asked to; the message explains why, as far as the
	// engine does.
	ReasonExpansionFailed = "ExpansionFailed"
)

// Reasons of VolumeReverted beside Failed, Migrating, Rebuilding and Unsupported.
const (
	// ReasonReverted surfaces when the volume has the content of the snapshot again.
	ReasonReverted = "Reverted"
	// ReasonReverting surfaces while the engine is asked to revert.
	ReasonReverting = "Reverting"
	// ReasonWaitingForMaintenance surfaces until the volume is attached with its frontend disabled.
	ReasonWaitingForMaintenance = "WaitingForMaintenance"
)

// Reasons of VolumeAttached and VolumeFaulted beside those of other kinds.
const (
	// ReasonDeletedInUse surfaces while the volume is attached although its engine or frontend is being deleted; it is made again at the
	// next detach.
	ReasonDeletedInUse = "DeletedInUse"
	// ReasonWaitingForReplicas surfaces while replicas start or stop.
	ReasonWaitingForReplicas = "WaitingForReplicas"
	// ReasonWaitingForEngine surfaces while the engine starts or stops.
	ReasonWaitingForEngine = "WaitingForEngine"
	// ReasonWaitingForFrontend surfaces while the frontend of a v2 volume starts or stops.
	ReasonWaitingForFrontend = "WaitingForFrontend"
	// ReasonWaitingForSnapshots surfaces while a volume that is being deleted still has Snapshot objects.
	ReasonWaitingForSnapshots = "WaitingForSnapshots"
	// ReasonInstanceUnknown surfaces while the state of an instance is not known: it may still write.
	ReasonInstanceUnknown = "InstanceUnknown"
	// ReasonReplicaNotStarting surfaces while a replica does not start although its node is in service.
	ReasonReplicaNotStarting = "ReplicaNotStarting"
	// ReasonNoUsableReplica surfaces while no replica can be used; the message states which node or person is waited for.
	ReasonNoUsableReplica = "NoUsableReplica"
	// ReasonRestoring surfaces while a volume gets its data from a backup; also of a Snapshot or Backup that waits for it.
	ReasonRestoring = "Restoring"
	// ReasonCloning surfaces while a volume gets its data from another one; also of a Snapshot or Backup that waits for it.
	ReasonCloning = "Cloning"
	// ReasonCopyUnknown surfaces when the status of a clone was lost, and its last holder was a copy: a person has to say whether the volume
	// has its data.
	ReasonCopyUnknown = "CopyUnknown"
	// ReasonUsable surfaces while a volume has not failed.
	ReasonUsable = "Usable"
)

// AttachedTo is the sentence with which the message of an attached volume's condition Attached begins. What the volume waits for follows.
func AttachedTo(node string) string { return "The volume is attached to " + node + "." }

// CloneModeLinked is the Volume.spec.cloneMode of clones that share their source's data.
const CloneModeLinked = "linked-clone"

// States of Volume.status.cloneStatus.
const (
	CloneInitiated     = "initiated"
	CloneCopyCompleted = "copy-completed-awaiting-healthy"
	CloneCompleted     = "completed"
	CloneFailed        = "failed"
)
