package instance

import (
	"net"
	"strconv"
	"time"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// World is everything that the decision about one object's instance is made from.
type World struct {
	Now    time.Time
	Object Object
	// Status is what the object's status reports now.
	Status Status
	// Node is the one of spec.nodeID, or of the instance manager where that is empty.
	Node Node
	// Here is the instance manager that runs the instance, or must: the one that the status names while that exists, else the one that
	// serves the node. Nil where there is none; NoPlace then reports why.
	Here    *Place
	NoPlace string
	// HereGone reports whether the instance manager that the status names does not exist any more.
	HereGone bool
	// Elsewhere are the other instance managers whose newest whole list has the name, by name.
	Elsewhere []Place
	// Peers are the volume's other objects, read uncached; Read is false where no one read them.
	Peers Peers
	// Held is until when the name must not be touched, because a server may still execute a deletion of the leader before; zero is not
	// held.
	Held time.Time
	// Tried is the Identity of the last call, NotBefore when the same one is due again.
	Tried     string
	NotBefore time.Time
	// Refusals counts in a row how often a server declined to create the instance, Refusal is its last word.
	Refusals int
	Refusal  string
	// Engines are those that a frontend's spec, its record and its switch-over name, by name.
	Engines map[string]EngineFacts
	// LedBy names a frontend that must run and whose I/O goes to this engine, as far as its newest list shows; empty is none.
	LedBy string
	// Unsettled reports whether a call is under way, or ended after the newest list began, that moves a frontend, holds its I/O or lets it
	// continue.
	Unsettled bool
	// MoveAfter is when a frontend may move again after its server declined that; zero is at once.
	MoveAfter time.Time
	// Settings are what instances are made with.
	Settings Settings
	// DiskName is the name of a v2 replica's disk on its node; empty is unknown.
	DiskName string
	// EngineSize is what the engine of a frontend serves; 0 is unknown.
	EngineSize volumesize.Net
	// Volume is what a start needs to know of the object's Volume; nil where there is none, or while VolumeRead is false. It is read
	// uncached, right before a creation.
	Volume     *Volume
	VolumeRead bool
	// EngineImage is the image of a v1 process, BackingImage what a replica starts from.
	EngineImage  EngineImage
	BackingImage BackingImage
}

// EngineFacts are what is known of an engine that a frontend leads to, or must.
type EngineFacts struct {
	// UID is that of its object; empty where there is none.
	UID string
	// Address is where it serves (ip:port); empty unless it runs and must.
	Address string
	// Failed reports that it failed, Gone that it positively does not run anywhere, NodeOut that its node is down or out of service.
	Failed, Gone, NodeOut bool
	// Working reports that work is under way that may go through its frontend.
	Working bool
	// Rebuilding is a replica that it copies to beside its writes; empty is none.
	Rebuilding string
	// OutSince is since when the node is down; zero where that is not known.
	OutSince time.Time
	// InstanceManager is the one that runs it, or ran it last.
	InstanceManager string
	// Loading is the v2 disk that is being loaded on its node; empty is none.
	Loading string
}

// Object is the part of an Engine, EngineFrontend or Replica that reports what is wanted.
type Object struct {
	// Kind is the wire's word: engine, engine-frontend or replica.
	Kind                              string
	Name, Volume, NodeID, Image       string
	DataEngine                        string
	Running, Deleting, Active         bool
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
	// Suspend is the request to hold a frontend's I/O; empty lets it continue.
	Suspend string
}

// EngineSpec is what only engines have.
type EngineSpec struct {
	// Replicas are addresses (ip:port) by name.
	Replicas map[string]string
	// CurrentSize is what the engine served last; 0 is unknown.
	CurrentSize        volumesize.Net
	UnmapMarkRemoved   bool
	RebuildConcurrency int
}

// ReplicaSpec is what only replicas have.
type ReplicaSpec struct {
	DiskID, DiskPath, Directory, BackingImage string
	UnmapMarkRemoved                          bool
	// HasData reports that it was whole and did not fail since: it starts over what it has, or not at all.
	HasData bool
}

// Volume is what a start needs to know of the Volume.
type Volume struct {
	// LUKSLabel reports that a v2 volume was created with room for the LUKS header, StrictLocal that it runs only where its replica is.
	Encrypted, LUKSLabel, StrictLocal bool
}

// TargetSpec is what only frontends have: the engine to connect to, and where it listens.
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

// Node is what is known of the node.
type Node struct {
	Name string
	// Down reports whether Kubernetes reports it is gone or not ready, OutOfService that a person reports it by the taint.
	Down, OutOfService bool
	// OutSince is since when it is down; zero where that is not known.
	OutSince time.Time
	// Upgrading reports whether a live upgrade has the node.
	Upgrading bool
	// Loading is the v2 disk that is being loaded there; empty is none.
	Loading string
}

// Out reports whether what ran on the node is partitioned, or can be concluded to be.
func (n Node) Out() bool { return n.Down || n.OutOfService }

// Place is one instance manager with what its newest whole list reports about the name.
type Place struct {
	InstanceManager, Node string
	// IP is InstanceManager.status.ip, Image its spec.image.
	IP, Image string
	// Running reports whether the instance manager is ready, PodMissing that it has positively no pod.
	Running, PodMissing bool
	// CannotStart reports why the pod of an instance manager that does not run cannot start; empty where it may, or nothing is known.
	CannotStart string
	// Known is false where there is no whole list of the present epoch: nothing may be concluded then.
	Known bool
	// Unheard is true beside Known false where this process was not reported yet whether the server answers: what an earlier one saw is
	// still the last that is known.
	Unheard bool
	// Out reports whether its node is out: what ran there was concluded to be partitioned, and no one there can be asked.
	Out bool
	// Entry is the instance in that list; nil where the list lacks it.
	Entry *Entry
	// Absent reports whether the name is proven not to be there.
	Absent bool
	// Ended reports whether it is absent because of a deletion of our own.
	Ended bool
	// Unloaded are the disks that the server has not loaded and that may hold a v2 replica: what its list lacks proves nothing until they
	// are.
	Unloaded []string
	// Address is where that list was read.
	Address string
	// UsedBy names what is listed there and uses the instance: a frontend that leads to an engine, an engine that maps a replica. It is
	// reported of other instance managers only.
	UsedBy string
	// Since is when the container started; zero is unknown.
	Since time.Time
}

// Entry is one instance of a whole list.
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
	// Begun reports whether it may exist for all that its status reports, NodeDown that its state is concluded, On that its node is not
	// out.
	Wanted, Begun, NodeDown, On bool
	// Modes are an engine's replica modes by replica name.
	Modes map[string]string
}

// Settings are what instances are made with, where their object does not report.
type Settings struct {
	// EnginePrefix is where engines find their binaries, HostPrefix where the host's file system is, inside an instance manager.
	EnginePrefix, HostPrefix string
	// ControlPath is Longhorn's directory on the host that has engine binaries.
	ControlPath string
	// PathLoss is how long a node's kernel tries to connect again to a target that does not answer, until it drops the path.
	PathLoss time.Duration
	// CallPatience is how long a server may still execute a call that was not answered.
	CallPatience time.Duration
	// Rediscovery is how long a v2 server's list may lack what outlived its start.
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

// entry is what Here lists; nil also where Here is unknown.
func (w World) entry() *Entry {
	if w.Here == nil || !w.Here.Known {
		return nil
	}
	return w.Here.Entry
}
