package machine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Node is what the machine reads of a node.
type Node struct {
	// Known is false where no Node of that name exists; Down is positive evidence, and true then, too.
	Known, Down bool
	// Upgrading takes no new engine.
	Upgrading bool
}

// Settings are those that the machine applies.
type Settings struct {
	AutoSalvage        bool
	DefaultEngineImage string
	DefaultReplicas    int
	// SnapshotMaxCount is how many snapshots a volume may have that names no number.
	SnapshotMaxCount int
	// RemoveSnapshotsOnTrim applies if the volume leaves it to the setting; DisableRevisionCounter applies to new v1 volumes.
	RemoveSnapshotsOnTrim, DisableRevisionCounter bool
}

// World is everything that was read about one volume; Volume is nil where it does not exist (DecideWithoutVolume). Objects are the cache's:
// nothing here is ever modified.
type World struct {
	Now    time.Time
	Volume *v1beta2.Volume
	// Objects are the volume's.
	Objects
	// Previous are those of a previous volume of the same name: they are neither used nor destroyed, and new objects get other names.
	Previous Objects
	// Nodes are those that any of the above refers to.
	Nodes map[string]Node
	// Listed are the instances that instance managers list under the name of an engine that is being deleted.
	Listed map[string][]abandoned.Listing
	// Attachment has the tickets; nil: it does not exist.
	Attachment *v1beta2.VolumeAttachment
	// StartsSince is since when the volume waits for each replica, by its name (Starts); a missing one starts waiting now.
	StartsSince map[string]time.Time
	// Snapshots is how many Snapshot objects refer to the volume; it is read only while the volume is being deleted.
	Snapshots int
	// FirstSnapshot is the first of their names.
	FirstSnapshot string
	// Upgrades are the live upgrades under way that list the volume, or are of a node that any of the above refers to, one for each node.
	Upgrades []Upgrade
	// Source is the running engine of the volume that this one is cloned from; nil if it does not run. SourceVolume is that volume; nil if
	// it does not exist, or the copy has ended. SourceSnapshot is the Snapshot named CopiedSnapshot; nil if there is none.
	Source         *v1beta2.Engine
	SourceVolume   *v1beta2.Volume
	SourceSnapshot *v1beta2.Snapshot
	// BackupVolume describes the backups of the volume in spec.fromBackup; nil if there is no such object.
	BackupVolume *v1beta2.BackupVolume
	Settings     Settings
}

// Objects are engines, frontends and replicas, each in order of their names. Replicas has the second processes of a migration, too; the
// concerns get those apart (Facts).
type Objects struct {
	Engines   []*v1beta2.Engine
	Frontends []*v1beta2.EngineFrontend
	Replicas  []*v1beta2.Replica
}

// All are the objects of all kinds.
func (o Objects) All() (all []metav1.Object) {
	for _, e := range o.Engines {
		all = append(all, e)
	}
	for _, f := range o.Frontends {
		all = append(all, f)
	}
	for _, r := range o.Replicas {
		all = append(all, r)
	}
	return all
}

// nodeNames are the nodes of the objects, some more than once, and the empty name of what is placed nowhere.
func (o Objects) nodeNames() (names []string) {
	for _, e := range o.Engines {
		names = append(names, e.Spec.NodeID)
	}
	for _, f := range o.Frontends {
		names = append(names, f.Spec.NodeID)
	}
	for _, r := range o.Replicas {
		names = append(names, r.Spec.NodeID)
	}
	return names
}

// NodeNames are the nodes that the volume and its objects refer to, and those of a previous volume, as nodeNames.
func (w *World) NodeNames() []string {
	names := append(w.Objects.nodeNames(), w.Previous.nodeNames()...)
	if v := w.Volume; v != nil {
		names = append(names, v.Spec.NodeID, v.Spec.MigrationNodeID, v.Spec.TargetNodeID, v.Status.CurrentNodeID,
			v.Status.CurrentMigrationNodeID)
	}
	return names
}

// nodeDown reports whether a node is down, or no Longhorn Node of that name exists: so the empty node of an object that is placed nowhere
// counts as down.
func (w *World) nodeDown(node string) bool {
	n, ok := w.Nodes[node]
	return !ok || !n.Known || n.Down
}

func (w *World) isV2() bool { return w.Volume.Spec.DataEngine == v1beta2.DataEngineV2 }

// hasFrontend reports whether a volume needs an EngineFrontend to be attached.
func (w *World) hasFrontend() bool { return w.isV2() && !w.Volume.Spec.DisableFrontend }

// instance is what Engine, EngineFrontend and Replica have in common.
type instance struct {
	exists   bool
	node     string
	wanted   bool
	state    string
	nodeDown bool // the state is concluded, not observed
	uuid     string
}

func ofEngine(e *v1beta2.Engine) instance {
	if e == nil {
		return instance{}
	}
	return instance{true, e.Spec.NodeID, e.Spec.DesireState == v1beta2.InstanceStateRunning, e.Status.CurrentState,
		conditions.IsTrue(e.Status.Conditions, v1beta2.InstanceNodeDown), e.Status.UUID}
}

func ofFrontend(e *v1beta2.EngineFrontend) instance {
	if e == nil {
		return instance{}
	}
	state := e.Status.CurrentState
	if state == v1beta2.InstanceStateSuspended { // it suspends its I/O, and exists
		state = v1beta2.InstanceStateRunning
	}
	return instance{true, e.Spec.NodeID, e.Spec.DesireState == v1beta2.InstanceStateRunning, state,
		conditions.IsTrue(e.Status.Conditions, v1beta2.InstanceNodeDown), e.Status.UUID}
}

func ofReplica(r *v1beta2.Replica) instance {
	return instance{true, r.Spec.NodeID, r.Spec.DesireState == v1beta2.InstanceStateRunning, r.Status.CurrentState,
		conditions.IsTrue(r.Status.Conditions, v1beta2.InstanceNodeDown), r.Status.UUID}
}

// failed reports whether an instance failed that must run.
func (i instance) failed() bool { return i.wanted && i.state == v1beta2.InstanceStateError }

// stateOf returns the state that may be relied upon. A state that was concluded while the node was down is unknown until it is observed. An
// object without a state was never started: the state is written before the first call.
func (w *World) stateOf(i instance) string {
	switch {
	case !i.exists || i.state == "":
		return v1beta2.InstanceStateStopped
	case i.nodeDown && !w.nodeDown(i.node):
		return v1beta2.InstanceStateUnknown
	}
	return i.state
}

func (w *World) stopped(i instance) bool { return w.stateOf(i) == v1beta2.InstanceStateStopped }

func (w *World) running(i instance) bool { return w.stateOf(i) == v1beta2.InstanceStateRunning }
