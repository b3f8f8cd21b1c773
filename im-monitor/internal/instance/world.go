package instance

import (
	"net"
	"strconv"
	"time"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// World is the input of the decision about one object's instance.
type World struct {
	Now    time.Time
	Object Object
	// Status is the object's present status.
	Status Status
	// Node is the one of spec.nodeID, or of the instance manager where that is empty.
	Node Node
	// Here is the instance manager that runs, or is to run, the instance: the one that the status names while that exists, else the one
	// that serves the node. Nil where there is none; NoPlace is then the cause.
	Here    *Place
	NoPlace string
	// HereGone reports whether the instance manager that the status names no longer exists, and neither does a pod of it that may run.
	HereGone bool
	// Elsewhere are the other instance managers whose newest complete list has the name, by name.
	Elsewhere []Place
	// Peers are the volume's other objects, read uncached; Read is false where they were not read.
	Peers Peers
	// Held is until when no call for the name is allowed, because a server may still execute a deletion by the previous leader; zero is not
	// held.
	Held time.Time
	// Tried is the Identity of the last call, NotBefore when the same one is due again.
	Tried     string
	NotBefore time.Time
	// TransientSince is the time at which this process first saw the listed instance of Here in its state, if that is stopping or pending;
	// zero: it is in neither state.
	TransientSince time.Time
	// Refusals counts the consecutive refused creations, Refusal is the server's last error.
	Refusals int
	Refusal  string
	// Engines are those that a frontend's spec, its record and its switch-over name, by name.
	Engines map[string]EngineFacts
	// LedBy is a frontend that is to run and whose I/O goes to this engine according to its newest list; empty is none.
	LedBy string
	// MayUse is an engine of the volume that runs although no object shows that it does, and that may use this replica; empty is none.
	MayUse string
	// Unsettled reports whether a call that switches a frontend over, suspends or resumes its I/O is in progress, or ended after the
	// newest list began.
	Unsettled bool
	// MoveAfter is when a switch-over may be retried after the server refused it; zero is at once.
	MoveAfter time.Time
	// Settings are those that instances are created with.
	Settings Settings
	// DiskName is the name of a v2 replica's disk on its node; empty is unknown.
	DiskName string
	// EngineSize is the size of the frontend's engine; 0 is unknown.
	EngineSize volumesize.Net
	// Volume is the part of the object's Volume that a start needs; nil where there is none, or while VolumeRead is false. It is read
	// uncached, right before a creation.
	Volume     *Volume
	VolumeRead bool
	// EngineImage is the image of a v1 process, BackingImage the backing image of a replica.
	EngineImage  EngineImage
	BackingImage BackingImage
}

// Ends reports whether the object is being deleted, so that nothing is started for it.
func (o Object) Ends() bool { return o.Deleting && !o.Kept }

// EngineFacts is the state of an engine that a frontend leads to, or is to lead to.
type EngineFacts struct {
	// UID is that of its object; empty where there is none.
	UID string
	// Address is where it serves (ip:port); empty unless it runs and is to run.
	Address string
	// Failed reports that it failed, Gone that it positively does not run anywhere, NodeOut that its node is down or out of service.
	Failed, Gone, NodeOut bool
	// Working reports that work is under way that may go through its frontend.
	Working bool
	// Rebuilding is the replica that it rebuilds; empty is none.
	Rebuilding string
	// OutSince is since when the node is down; zero where that is not known.
	OutSince time.Time
	// InstanceManager is the one that runs it, or ran it last.
	InstanceManager string
	// Loading is the v2 disk that is being loaded on its node; empty is none.
	Loading string
}

// Object is the part of an Engine, EngineFrontend or Replica that is its desired state.
type Object struct {
	// Kind is the instance type of the API: engine, engine-frontend or replica.
	Kind                        string
	Name, Volume, NodeID, Image string
	DataEngine                  string
	Running, Deleting, Active   bool
	// Kept reports of a replica that it has all data, and that attach-controller refuses the removal of its data: where it is being deleted,
	// and is to run, it is the last copy.
	Kept                              bool
	Size                              volumesize.Net
	SalvageRequested                  bool
	SnapshotMaxCount                  int
	SnapshotMaxSize                   int64
	RevisionCounterDisabled           bool
	Frontend                          string
	DisableFrontend                   bool
	UblkQueueDepth, UblkNumberOfQueue int
	Engine                            EngineSpec
	Replica                           ReplicaSpec
	Target                            TargetSpec
	// Suspend is the request to suspend a frontend's I/O; empty is to resume it.
	Suspend string
}

// EngineSpec are the fields that only engines have.
type EngineSpec struct {
	// Replicas are addresses (ip:port) by name.
	Replicas map[string]string
	// CurrentSize is the last size of the engine; 0 is unknown.
	CurrentSize        volumesize.Net
	UnmapMarkRemoved   bool
	RebuildConcurrency int
}

// ReplicaSpec are the fields that only replicas have.
type ReplicaSpec struct {
	DiskID, DiskPath, Directory, BackingImage string
	UnmapMarkRemoved                          bool
	// HasData reports that the replica was complete and has not failed since: it starts over its data, or not at all.
	HasData bool
}

// Volume is the part of the Volume that a start needs.
type Volume struct {
	// LUKSLabel reports that a v2 volume was created with room for the LUKS header.
	Encrypted, LUKSLabel bool
}

// TargetSpec are the fields that only frontends have: the engine to connect to, and its address.
type TargetSpec struct {
	Engine, IP string
	Port       int
	IOQueues   int
}

// Address is ip:port, or empty while the target is not known.
func (t TargetSpec) Address() string { return address(t.IP, t.Port) }

func address(ip string, port int) string {
	if ip == "" || port == 0 {
		return ""
	}
	return net.JoinHostPort(ip, strconv.Itoa(port))
}

// Node is the state of the node.
type Node struct {
	Name string
	// Down reports whether Kubernetes reports the node as gone or not ready, OutOfService whether it has the out-of-service taint.
	Down, OutOfService bool
	// OutSince is since when it is down; zero where that is not known.
	OutSince time.Time
	// Upgrading reports whether a live upgrade has the node.
	Upgrading bool
	// Loading is the v2 disk that is being loaded there; empty is none.
	Loading string
}

// Out reports whether instances on the node are fenced, or can be concluded to be.
func (n Node) Out() bool { return n.Down || n.OutOfService }

// Place is one instance manager with the entry of its newest complete list for the name.
type Place struct {
	InstanceManager, Node string
	// IP is InstanceManager.status.ip, Image its spec.image.
	IP, Image string
	// Running reports whether the instance manager is ready, PodMissing that it has positively no pod.
	Running, PodMissing bool
	// PodOnly reports whether the InstanceManager was deleted while its pod has not ended: what runs there is unknown.
	PodOnly bool
	// CannotStart reports why the pod of an instance manager that does not run cannot start; empty where it may, or nothing is known.
	CannotStart string
	// Known is false where there is no complete list of the present epoch: nothing may be concluded then.
	Known bool
	// Unheard is true while Known is false and this process has not called the server yet: the status of an earlier process is
	// still the last known one.
	Unheard bool
	// Out reports whether its node is out: its instances were concluded to be fenced, and the instance manager cannot be polled.
	Out bool
	// Entry is the instance in that list; nil where the list lacks it.
	Entry *Entry
	// Absent reports whether the name is proven absent.
	Absent bool
	// Ended reports whether it is absent because of a deletion by this process.
	Ended bool
	// Unloaded are the disks that the server has not loaded and that may hold a v2 replica: an absence from its list proves nothing until
	// they are.
	Unloaded []string
	// Address is where that list was read.
	Address string
	// UsedBy is a listed instance that uses this one: a frontend that leads to an engine, an engine that maps a replica. It is
	// set for other instance managers only.
	UsedBy string
	// Since is when the server had started, and not later than this process connected to it; zero is unknown.
	Since time.Time
}

// Entry is one instance of a complete list.
type Entry struct {
	Type, State, UUID, DiskUUID, Error, Endpoint string
	Port                                         int
	UblkID                                       int32
	// EngineName is a frontend's engine on record, ActivePath its address.
	EngineName, ActivePath, PreferredPath string
	Paths                                 []v1beta2.NvmeTCPPath
}

// Peers are the volume's other objects.
type Peers struct {
	Read bool
	// Same are the volume's other engines, for an engine, or other frontends, for a frontend.
	Same []Peer
	// Replicas are all replicas of the volume.
	Replicas []Peer
	// SameData are, for a v1 engine that is not the volume's, the other replicas over the directory of each replica, by name.
	SameData map[string][]string
	// Leftovers are instances that are listed live under the names of engines of the volume that have no object.
	Leftovers []string
	// Migrating reports whether the volume is asked to run on two nodes.
	Migrating bool
	// Targets are the nodes on which a v2 volume's target may be beside the one that it leaves.
	Targets []string
}

// Peer is another object of the volume.
type Peer struct {
	Name, State string
	// Begun reports whether its instance may exist according to its status, NodeDown that its state is concluded, On that its node is not
	// out.
	Wanted, Begun, NodeDown, On bool
	// Modes are an engine's replica modes by replica name.
	Modes map[string]string
}

// Settings are those that instances are created with, where their object has none.
type Settings struct {
	// EnginePrefix is the directory of engine binaries, HostPrefix that of the host's file system, inside an instance manager.
	EnginePrefix, HostPrefix string
	// ControlPath is Longhorn's directory on the host that has engine binaries.
	ControlPath string
	// PathLoss is how long a node's kernel tries to reconnect to a target that does not answer, until it drops the path.
	PathLoss time.Duration
	// CallPatience is how long a server may still execute a call that was not answered.
	CallPatience time.Duration
	// StuckEnding is the time after which the deletion of a v1 process that is still ending is requested again.
	StuckEnding time.Duration
	// Rediscovery is how long after its start a v2 server's list may lack surviving instances.
	Rediscovery time.Duration
	// ReplicaTimeout and FileSyncTimeout are in seconds.
	ReplicaTimeout, FileSyncTimeout int
	RebuildConcurrency              int
	// UblkQueueDepth and UblkNumberOfQueue are those of ublk devices, IOQueues those of NVMe connections; 0 is the kernel's number.
	UblkQueueDepth, UblkNumberOfQueue, IOQueues int
}

func (w World) v2() bool { return w.Object.DataEngine == v1beta2.DataEngineV2 }

func (w World) engine() bool { return w.Object.Kind == v1beta2.InstanceTypeEngine }

func (w World) frontend() bool { return w.Object.Kind == v1beta2.InstanceTypeEngineFrontend }

func (w World) replica() bool { return w.Object.Kind == v1beta2.InstanceTypeReplica }

// OverData reports whether a v2 replica is to run over the data that it has: where a list lacks it, whether that is absent matters.
func (w World) OverData() bool {
	return w.Object.Running && w.replica() && w.v2() && w.Object.Replica.HasData
}

// entry is the entry of Here's list; nil also where that list is unknown.
func (w World) entry() *Entry {
	if w.Here == nil || !w.Here.Known {
		return nil
	}
	return w.Here.Entry
}
