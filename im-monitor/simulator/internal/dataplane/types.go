package dataplane

import (
	"maps"
	"slices"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Data engines and instance types, as the wire and the CRs spell them.
const (
	V1 = "v1"
	V2 = "v2"

	TypeEngine   = "engine"
	TypeReplica  = "replica"
	TypeFrontend = "engine-frontend"
)

// States of an instance.
const (
	Starting  = "starting"
	Running   = "running"
	Stopping  = "stopping"
	Stopped   = "stopped"
	Failed    = "error"
	Pending   = "pending"
	Suspended = "suspended"
)

// Frontends of v2 engines.
const (
	FrontendBlockDevice = "spdk-tcp-blockdev"
	FrontendNVMf        = "spdk-tcp-nvmf"
	FrontendUblk        = "ublk"
)

// Spec is what a caller asks for when it creates an instance.
type Spec struct {
	Name       string `json:"name"`
	Type       string `json:"type,omitempty"`
	DataEngine string `json:"dataEngine,omitempty"`
	Volume     string `json:"volume,omitempty"`
	PortCount  int32  `json:"portCount,omitempty"`

	// Binary and Args are those of a v1 process.
	Binary string   `json:"binary,omitempty"`
	Args   []string `json:"args,omitempty"`

	// Replicas are the addresses (ip:port) of a v2 engine's replicas, by their names.
	Replicas map[string]string `json:"replicas,omitempty"`
	DiskName string            `json:"diskName,omitempty"`
	DiskUUID string            `json:"diskUUID,omitempty"`
	Size     uint64            `json:"size,omitempty"`
	Frontend string            `json:"frontend,omitempty"`
	// EngineName and TargetAddress report which engine a v2 frontend connects to.
	EngineName    string `json:"engineName,omitempty"`
	TargetAddress string `json:"targetAddress,omitempty"`
	// SalvageRequested makes a v2 engine keep its best replica alone; SnapshotMaxCount is 250 when 0.
	SalvageRequested bool  `json:"salvageRequested,omitempty"`
	SnapshotMaxCount int32 `json:"snapshotMaxCount,omitempty"`
	// BackingImage is what a v2 replica starts from.
	BackingImage string `json:"backingImage,omitempty"`
	// UblkQueueDepth, UblkNumberOfQueue and IOQueues are a v2 frontend's, as asked.
	UblkQueueDepth    int32 `json:"ublkQueueDepth,omitempty"`
	UblkNumberOfQueue int32 `json:"ublkNumberOfQueue,omitempty"`
	IOQueues          int32 `json:"ioQueues,omitempty"`
}

// Path is one NVMe path of a v2 frontend.
type Path struct {
	EngineName string `json:"engineName"`
	TargetIP   string `json:"targetIP"`
	TargetPort int32  `json:"targetPort"`
	NQN        string `json:"nqn,omitempty"`
	NGUID      string `json:"nguid,omitempty"`
	ANAState   string `json:"anaState"`
}

// Instance is one entry of a server's inventory. UUID is the true one, whatever the server reports.
type Instance struct {
	Spec
	UUID     string `json:"uuid"`
	State    string `json:"state"`
	ErrorMsg string `json:"errorMsg,omitempty"`

	PortStart       int32 `json:"portStart,omitempty"`
	PortEnd         int32 `json:"portEnd,omitempty"`
	TargetPortStart int32 `json:"targetPortStart,omitempty"`
	TargetPortEnd   int32 `json:"targetPortEnd,omitempty"`

	Endpoint   string `json:"endpoint,omitempty"`
	ActivePath string `json:"activePath,omitempty"`
	Paths      []Path `json:"paths,omitempty"`

	// HideUUID makes the server leave the UUID empty, whatever its mode.
	HideUUID bool `json:"hideUUID,omitempty"`

	// listedAs is the type that a v1 server lists.
	listedAs string
	// stored is true of a v2 replica that has data.
	stored bool
	// ana is the state of an engine's listener, which its SPDK holds; empty is optimized, as it is after the start.
	ana string
	// links are the connections that a node's kernel has for a frontend: they outlive its server.
	links []link
	// ending is true from the deletion on until the entry is gone.
	ending bool
	// stuckSince is when a v1 process survived its deletion; zero if it did not.
	stuckSince time.Time
	// recovering is true of a frontend that its server found on record, until its target answered or did not.
	recovering bool
	// created is when it was made.
	created time.Time
	// opener is the engine's member that opened the process of a v1 replica; nil while the process is closed.
	opener *member
	// server is where it is, run what a running engine knows.
	server *Server
	run    *engineRun
}

// copy shares nothing with the original that ever changes.
func (i *Instance) copy() Instance {
	out := *i
	out.Replicas = maps.Clone(i.Replicas)
	out.Paths = slices.Clone(i.Paths)
	out.links = slices.Clone(i.links)
	return out
}

// Lvol is the data of one v2 replica on a node's disk: a head and its snapshots.
type Lvol struct {
	Name      string         `json:"name"`
	UUID      string         `json:"uuid"`
	DiskName  string         `json:"diskName"`
	DiskUUID  string         `json:"diskUUID"`
	Volume    string         `json:"volume,omitempty"`
	Size      uint64         `json:"size"`
	Created   time.Time      `json:"created"`
	Snapshots []SnapshotLvol `json:"snapshots,omitempty"`

	data *data
}

// copy has the snapshots of the moment.
func (l *Lvol) copy() Lvol {
	out := *l
	if l.data == nil {
		return out
	}
	out.Snapshots = nil
	for _, d := range l.data.List() {
		if d.Name != chain.Head {
			out.Snapshots = append(out.Snapshots, SnapshotLvol{Name: d.Name, UUID: d.UUID, Parent: d.Parent})
		}
	}
	return out
}

// SnapshotLvol is one snapshot of a v2 replica.
type SnapshotLvol struct {
	Name   string `json:"name"`
	UUID   string `json:"uuid"`
	Parent string `json:"parent,omitempty"`
}

// ServerMode reports how v2 identities are treated.
type ServerMode string

// The server modes.
const (
	// Conforming servers report the UUIDs of v2 instances and refuse to delete under a wrong one.
	Conforming ServerMode = "conforming"
	// Today's servers leave v2 UUIDs empty and delete whatever carries the name.
	Today ServerMode = "today"
)

// Behaviour is how servers behave; durations may be 0.
type Behaviour struct {
	Mode ServerMode
	// StartTime is how long an instance is starting, StopTime how long it is stopping, Linger how long it is still listed as stopped.
	StartTime, StopTime, Linger time.Duration
	// ListCycle is how often a v2 server polls its loaded disks, DiskCreateTime how long it takes to create one.
	ListCycle, DiskCreateTime time.Duration
	// MismatchCode answers a v2 deletion under a wrong UUID: NotFound or FailedPrecondition.
	MismatchCode Code
	// ReplicaTimeout is how long an engine waits for a replica that does not answer until it is in mode ERR.
	ReplicaTimeout time.Duration
	// CopyTime is how long copying a volume takes; Held is for ever.
	CopyTime time.Duration
	// BackupStore is the directory that backup targets without a file scheme are kept in.
	BackupStore string
	// Hosts is the directory with the root of each node's file systems, NODE/host, in which v1 replicas keep their directories; "" is none.
	Hosts string
	// EngineImages are the CLI API versions of engine images; others have NewestCLI.
	EngineImages map[string]int
	// PathLoss is how long a node's kernel tries to connect again to a target that does not answer; 0 is 30 s.
	PathLoss time.Duration
	// DeadTargetTime is how long a v2 server tries to connect a new frontend to a target that does not answer, DeadReplicaTime how long to
	// connect a new engine to each replica that does not, FrontendEndTime how long it works on the deletion of a frontend whose engine has
	// lost a replica.
	DeadTargetTime, DeadReplicaTime, FrontendEndTime time.Duration
	// KillTime is how long a v1 server waits for the end of a process before another deletion of it has an effect.
	KillTime time.Duration
	// Writers lets every volume that gets a frontend have a writer that follows it.
	Writers bool
}
