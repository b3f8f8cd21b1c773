package nodeupgrade

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// World is everything that was read about the upgrade of one node. The objects belong to the cache and are not modified.
type World struct {
	Now     time.Time
	Upgrade *v1beta2.NodeDataEngineUpgrade
	// Manager is nil where it is gone.
	Manager *v1beta2.DataEngineUpgradeManager
	// Others are all other upgrades of nodes.
	Others []*v1beta2.NodeDataEngineUpgrade
	// Cluster has every node, every v2 volume in use, and every volume that the upgrade's status names and that exists.
	Cluster cluster.Cluster
	// Snapshots are those that the upgrade's status names, by name; what is absent does not exist.
	Snapshots map[string]*v1beta2.Snapshot
	// Clones are, by snapshot, the names of the volumes that share its data or copy it, in order. It is read once the upgrade has ended.
	Clones map[string][]string
	// Fresh reports whether all this was read uncached.
	Fresh bool
	// FreshVolumes are the volumes of which every object was read uncached, with the nodes of their replicas, and Manager.
	FreshVolumes map[string]bool
}

// Verdict is what to write: the effects in their order, then the status. If an effect fails, a status of another state is not written:
// its steps rely on the effect.
type Verdict struct {
	// Confirm requires the same decision on uncached reads; the rest of the verdict is ignored then.
	Confirm bool
	// ConfirmVolumes requires the same decision on uncached reads of these volumes, sorted; the rest of the verdict is ignored then. If
	// some were read uncached already, the verdict counts, and RequeueAt is now: it is about the others.
	ConfirmVolumes []string
	Effects        []Effect
	// Status is the whole wanted status.
	Status v1beta2.NodeDataEngineUpgradeStatus
	// AddFinalizer keeps the object until the upgrade of its node has ended. An object that a person or a restored backup created has no
	// finalizer.
	AddFinalizer bool
	// DropFinalizer releases the object.
	DropFinalizer bool
	// Kept explains which snapshots of an ended upgrade are not deleted, because clones share their data; empty: none.
	Kept string
	// RequeueAt is when to decide again at the latest; zero means when something changes.
	RequeueAt time.Time
}

// Kind is what an effect does.
type Kind string

// The effects.
const (
	// CloseNode and OpenNode set Node.spec.upgradeRequested.
	CloseNode Kind = "CloseNode"
	OpenNode  Kind = "OpenNode"
	// SetTarget sets Volume.spec.targetNodeID to Effect.Node.
	SetTarget Kind = "SetTarget"
	// RequestPoll sets Engine.spec.lookRequestedAt to Effect.At.
	RequestPoll Kind = "AskLook"
	// TakeSnapshot creates the Snapshot of Effect.Volume.
	TakeSnapshot Kind = "TakeSnapshot"
	// DropSnapshot deletes the Snapshot.
	DropSnapshot Kind = "DropSnapshot"
)

// Effect is one write to another object than the upgrade itself.
type Effect struct {
	Kind Kind
	// Name is the object's.
	Name string
	// Volume is the volume that it is about, where there is one.
	Volume string
	// Node is the node of SetTarget; empty means the node where the volume is attached.
	Node string
	// At is the time of RequestPoll.
	At time.Time
}

// Ended reports whether a state is final.
func Ended(state string) bool {
	return state == v1beta2.UpgradeStateCompleted || state == v1beta2.UpgradeStateError
}

// Begun reports whether an upgrade may have changed something and has not ended.
func Begun(state string) bool {
	return state != "" && state != v1beta2.UpgradeStateUndefined && !Ended(state)
}
