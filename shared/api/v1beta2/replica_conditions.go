package v1beta2

// Condition types of a Replica.
const (
	// ReplicaDataRemovalApproved (writer attach-controller) True means: the replica's data may be destroyed.
	ReplicaDataRemovalApproved = "DataRemovalApproved"
	// ReplicaInstanceGone (writer im-monitor) True means that no instance manager of its node runs an instance of a deleted v1 replica. It
	// counts only for the generation of the Replica that it names: nothing starts an instance without changing the spec first.
	ReplicaInstanceGone = "InstanceGone"
	// ReplicaDataRemoved (writer im-monitor of v2, disk-controller of v1) True means that nothing of the replica is left where it was.
	ReplicaDataRemoved = "DataRemoved"
)

// Reasons of ReplicaDataRemovalApproved.
const (
	// ReasonVolumeDeleting surfaces when the volume is being deleted or gone.
	ReasonVolumeDeleting = "VolumeDeleting"
	// ReasonHealthyCopyElsewhere surfaces when another replica was seen healthy after this one's deletion.
	ReasonHealthyCopyElsewhere = "HealthyCopyElsewhere"
	// ReasonNoHealthyCopy surfaces while no other replica is healthy.
	ReasonNoHealthyCopy = "NoHealthyCopy"
	// ReasonWaitingForLook surfaces until a poll of the running engine is newer than the deletion.
	ReasonWaitingForLook = "WaitingForLook"
	// ReasonOtherReplicaFirst surfaces while another replica of the volume is being removed.
	ReasonOtherReplicaFirst = "OtherReplicaFirst"
)

// Reasons of ReplicaDataRemoved beside NodeGone, Unreachable, MappedByEngine, UUIDMismatch and DiskNotReady.
const (
	// ReasonRemoved surfaces when im-monitor's call removed it and its absence was proven, or disk-controller removed its directory.
	ReasonRemoved = "Removed"
	// ReasonNothingToRemove surfaces when no data of it existed.
	ReasonNothingToRemove = "NothingToRemove"
	// ReasonDiskNotLoaded surfaces while the instance manager has not loaded the replica's disk: what it lists proves nothing about the
	// replica.
	ReasonDiskNotLoaded = "DiskNotLoaded"
	// ReasonRemoving surfaces while disk-controller removes the directory of a v1 replica: from then on its data is not used any more; also of
	// a Backup that was deleted, while its data is removed from the target.
	ReasonRemoving = "Removing"
	// ReasonDirectoryClaimed surfaces while another object, or an instance, has the directory of a v1 replica.
	ReasonDirectoryClaimed = "DirectoryClaimed"
	// ReasonDirectoryFailed surfaces when the file system refuses the removal, or what lies there is not the directory of a replica.
	ReasonDirectoryFailed = "DirectoryFailed"
	// ReasonDiskGone surfaces when the disk of a v1 replica is not in the spec of its node any more: what it may hold is out of reach.
	ReasonDiskGone = "DiskGone"
)

// Condition types of an Engine, an EngineFrontend and a Replica.
const (
	// InstanceNodeDown (writer im-monitor) is True while the node is down or out of service: the state is then
	// concluded, not observed. Its reason is NodeDown or OutOfService.
	InstanceNodeDown = "NodeDown"
	// FrontendDeviceLost (writer im-monitor, of an EngineFrontend) is True after a live upgrade lost the frontend, until the volume is
	// detached: the device that pods had opened is gone.
	FrontendDeviceLost = "DeviceLost"
)

// Reasons of InstanceNodeDown beside NodeDown, and that of FrontendDeviceLost.
const (
	// ReasonCreatedAnew surfaces when a frontend was lost and created again; the message names the pods concerned.
	ReasonCreatedAnew = "CreatedAnew"
	// ReasonOutOfService surfaces when the Kubernetes node carries the taint node.kubernetes.io/out-of-service.
	ReasonOutOfService = "OutOfService"
)
