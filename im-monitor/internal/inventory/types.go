package inventory

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/managerimage"
)

// ErrUnreachable is wrapped by every error of Fresh: whatever the reason, nothing newer is known.
var ErrUnreachable = imclient.ErrUnreachable

// Target is an instance manager to connect to, from its pod and its InstanceManager. It is comparable: a changed Target is a new epoch.
type Target struct {
	// InstanceManager and Node are the names of the CRs.
	InstanceManager, Node string
	// DataEngine is v1 or v2.
	DataEngine string
	// Address is InstanceManager.status.ip, without a port.
	Address string
	// PodUID is the UID of the pod, ContainerID the ID of its container, ContainerStarted when that started: a time in whole seconds,
	// within which two containers may have started.
	PodUID           types.UID
	ContainerID      string
	ContainerStarted time.Time
	// TLS reports which ports of the image speak TLS.
	TLS managerimage.TLS
}

// Run names the run of the server behind a Target: the UID of its pod, a slash, and the ID of its container.
func (t Target) Run() string { return string(t.PodUID) + "/" + t.ContainerID }

// server is the epoch of every connection to this run of the server, before one is made.
func (t Target) server() Epoch {
	return Epoch{PodUID: t.PodUID, ContainerID: t.ContainerID, ContainerStarted: t.ContainerStarted}
}

// Epoch is the span in which lists of one instance manager may be compared. It is comparable.
type Epoch struct {
	PodUID           types.UID
	ContainerID      string
	ContainerStarted time.Time
	// Connection numbers every connection that this process made; 0 is none.
	Connection uint64
}

// Instance is one entry of a whole list.
type Instance = imclient.Instance

// Snapshot is one whole list. It is immutable and shared; no one modifies it.
type Snapshot struct {
	Target
	Epoch Epoch
	// EpochSince is when the epoch's connection was made; Began and Ended enclose the reading of this list.
	EpochSince, Began, Ended time.Time
	// Serial grows by one with every list of this process, over all instance managers.
	Serial uint64
	// Version is what the server reported when the connection was made.
	Version imclient.Version
	// Settled is false while a v2 server may still be rediscovering what outlived its restart: what such a list lacks means little.
	Settled bool
	// Instances are all instances by name.
	Instances Instances
}

// Change notifies subscribers of what a new list, or the loss of one, changed.
type Change struct {
	InstanceManager, Node string
	// Names were added, removed or changed, or became provably absent, here or in another instance manager's list of the same names; sorted.
	Names []string
	// Whole is set when the inventory became known or unknown: every name of the instance manager is concerned; Names is empty then.
	Whole bool
}

// Call is a deletion that was sent, to prove its effect with AbsentAfter.
type Call struct {
	InstanceManager, Name, UUID string
	// Type and DiskUUID are those of Subject.
	Type, DiskUUID string
	// Epoch is that of the Client that the call was sent with, Ended when it returned (or timed out).
	Epoch Epoch
	Ended time.Time
}

// Subject is the instance that the call deleted, whose absence matters from its end on.
func (c Call) Subject() Subject {
	return Subject{InstanceManager: c.InstanceManager, Name: c.Name, UUID: c.UUID, Type: c.Type, DiskUUID: c.DiskUUID, Since: c.Ended}
}

// Store is the inventory as others use it. Every method is safe for concurrent use; only Fresh blocks.
type Store interface {
	// Set names an instance manager to connect to. The same Target again changes nothing; another one is a new epoch: its inventory is
	// unknown until read again.
	Set(target Target)
	// Remove forgets an instance manager.
	Remove(instanceManager string)
	// Target reports what was set.
	Target(instanceManager string) (Target, bool)
	// Latest is the newest whole list of the present epoch. False means unknown: not read yet in this epoch, lost, failed. Unknown is not
	// empty.
	Latest(instanceManager string) (*Snapshot, bool)
	// Err reports why an inventory is unknown: nil while it is known, or before the first attempt ended.
	Err(instanceManager string) error
	// Heard reports whether this process learned, since it began, whether the instance manager answers: a list of it was read, or an
	// attempt failed. It stays so, whatever becomes of the instance manager.
	Heard(instanceManager string) bool
	// Fresh reads a whole list that begins after this call, shared with everybody who waits at the same time. Its errors wrap
	// ErrUnreachable and report why; an instance manager in back-off fails at once.
	Fresh(ctx context.Context, instanceManager string) (*Snapshot, error)
	// Absent is true when an instance is proven not to be there: another UUID carries its name, or lists of the present epoch lack it. A v1
	// instance takes two, the absence gap apart; a v2 engine or engine-frontend two of which the later one began when the epoch had
	// settled; a v2 replica two settled lists (see settling). False means nothing, and asks for what may prove it: the name appears in a
	// Change then.
	Absent(subject Subject) bool
	// AbsentAfter is Absent after our own deletion: one list begun after the call is enough, of the call's epoch or of a settled v2 one. Of
	// a v2 replica that proves nothing: it takes the same settled lists, begun after the call.
	AbsentAfter(call Call) bool
	// ExpectAbsence asks for the list that may prove an absence and reports when it is due; zero when that is not known, or the name is
	// listed.
	ExpectAbsence(subject Subject) time.Time
	// QuietFrom is the earliest beginning of a list that no creation or deletion of a replica spoils; zero where none does.
	QuietFrom(instanceManager string) time.Time
	// Unloaded are the disks, by their keys, that keep a v2 replica's absence from being proven, because their server reported that they
	// are not ready; sorted. diskUUID is that of Subject.
	Unloaded(instanceManager, diskUUID string) []string
	// AskDisk asks an instance manager about one of its v2 disks.
	AskDisk(ctx context.Context, instanceManager string, query imclient.DiskQuery) (imclient.Disk, error)
	// DiskReplicas are the replicas that an instance manager lists on the lvstore of a v2 disk, by name. They come from the cache that
	// whole lists come from.
	DiskReplicas(ctx context.Context, instanceManager string, disk imclient.DiskRef) (map[string]imclient.DiskReplica, error)
	// DeleteReplicaData destroys the data of one replica on a v2 disk. The server compares the name alone.
	DeleteReplicaData(ctx context.Context, instanceManager string, disk imclient.DiskRef, replica string) error
	// Holders are the instance managers whose latest list has this name, sorted.
	Holders(name string) []string
	// Lost are the last lists of servers that do not answer any more, and that nothing replaced: what they had may still run.
	Lost() []*Snapshot
	// OfNode are the instance managers that were set for a node, sorted.
	OfNode(node string) []string
	// Subscribe calls f with every change, those of one list in order, without any lock held. f must be quick and must not call Fresh.
	// It is called before the inventory starts.
	Subscribe(f func(Change))
	// Client is the connection of the present epoch, to send a deletion with; false when there is none.
	Client(instanceManager string) (imclient.Client, Epoch, bool)
}
