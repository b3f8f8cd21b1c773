package v1beta2

// Data engines. An empty dataEngine means v1.
const (
	DataEngineV1 = "v1"
	DataEngineV2 = "v2"
)

// States of a runtime instance. A CR's desireState is running or stopped; its currentState is any but pending and
// terminating, which only the data plane itself reports.
const (
	InstanceStateRunning     = "running"
	InstanceStateSuspended   = "suspended"
	InstanceStateStopped     = "stopped"
	InstanceStateError       = "error"
	InstanceStateStarting    = "starting"
	InstanceStateStopping    = "stopping"
	InstanceStateUnknown     = "unknown"
	InstanceStateTerminated  = "terminated"
	InstanceStatePending     = "pending"
	InstanceStateTerminating = "terminating"
)

// States of an InstanceManager (status.currentState).
const (
	InstanceManagerStateRunning  = "running"
	InstanceManagerStateStopped  = "stopped"
	InstanceManagerStateStarting = "starting"
	InstanceManagerStateError    = "error"
	InstanceManagerStateUnknown  = "unknown"
)

// InstanceManagerTypeAIO is the only type of InstanceManager that Drover creates: engines and replicas in one pod.
const InstanceManagerTypeAIO = "aio"

// Types of runtime instances, as the data plane names them.
const (
	InstanceTypeEngine         = "engine"
	InstanceTypeReplica        = "replica"
	InstanceTypeEngineFrontend = "engine-frontend"
)

// Types of orphans (spec.orphanType), and the keys of spec.parameters.
const (
	OrphanTypeEngineInstance  = "engine-instance"
	OrphanTypeReplicaInstance = "replica-instance"
	OrphanTypeReplicaData     = "replica"

	OrphanParameterInstanceName    = "InstanceName"
	OrphanParameterInstanceUUID    = "InstanceUUID"
	OrphanParameterInstanceManager = "InstanceManager"

	// DiskTypeBlock is the type of v2 disks, DiskTypeFilesystem of v1 disks.
	DiskTypeBlock      = "block"
	DiskTypeFilesystem = "filesystem"

	OrphanParameterDataName = "DataName"
	OrphanParameterDiskName = "DiskName"
	OrphanParameterDiskUUID = "DiskUUID"
	OrphanParameterDiskPath = "DiskPath"
	OrphanParameterDiskType = "DiskType"
)
