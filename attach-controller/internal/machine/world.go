package machine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Node is what the machine needs to know of a node.
type Node struct {
	// Known is false where no Node of that name exists; Down is positive evidence, and true then, too.
	Known, Down bool
	// Upgrading takes no new engine.
	Upgrading bool
}

// Settings are those that the machine obeys.
type Settings struct {
	AutoSalvage        bool
	DefaultEngineImage string
	DefaultReplicas    int
	// RemoveSnapshotsOnTrim holds where the volume leaves it to the setting; DisableRevisionCounter for new v1 volumes.
	RemoveSnapshotsOnTrim, DisableRevisionCounter bool
}

// World is everything that was read about one volume. Objects are the cache's: nothing here is ever modified.
type World struct {
	Now    time.Time
	Volume *v1beta2.Volume
	// Engines, Frontends and Replicas are the volume's, in order of their names.
	Engines   []*v1beta2.Engine
	Frontends []*v1beta2.EngineFrontend
	Replicas  []*v1beta2.Replica
	// Previous are Engines, EngineFrontends and Replicas of another volume, which had the same name before: they are neither used nor
	// destroyed, and what is made new has other names.
	Previous []metav1.Object
	// Nodes are those that any of the above names.
	Nodes map[string]Node
	// Listed are the instances that instance managers list under the name of an engine that is being deleted.
	Listed map[string][]abandoned.Listing
	// Attachment reports whether the VolumeAttachment exists; nil when it does not.
	Attachment *v1beta2.VolumeAttachment
	// StartsSince is since when each replica, by its name, has been waited for (Starts); one that is missing is so from now on.
	StartsSince map[string]time.Time
	// Snapshots is how many Snapshot objects name the volume; it is read only while the volume is being deleted.
	Snapshots int
	// FirstSnapshot is the first of their names.
	FirstSnapshot string
	// Upgrades are the live upgrades under way that list the volume, or are of a node that any of the above names, one for each node.
	Upgrades []Upgrade
	// Source is the running engine of the volume that this one is cloned from; nil where it does not run. SourceVolume is that volume; nil
	// where it does not exist, or the copy has ended. SourceSnapshot is the Snapshot named CopiedSnapshot; nil where there is none.
	Source         *v1beta2.Engine
	SourceVolume   *v1beta2.Volume
	SourceSnapshot *v1beta2.Snapshot
	// BackupVolume is what the volume's backup target holds of the volume that spec.fromBackup names; nil where no object describes it.
	BackupVolume *v1beta2.BackupVolume
	Settings     Settings
	Rules        Rules
}

func (w *World) down(node string) bool {
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
	nodeDown bool // the state is concluded, not seen
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
	if state == v1beta2.InstanceStateSuspended { // it holds its I/O, and is there
		state = v1beta2.InstanceStateRunning
	}
	return instance{true, e.Spec.NodeID, e.Spec.DesireState == v1beta2.InstanceStateRunning, state,
		conditions.IsTrue(e.Status.Conditions, v1beta2.InstanceNodeDown), e.Status.UUID}
}

func ofReplica(r *v1beta2.Replica) instance {
	return instance{true, r.Spec.NodeID, r.Spec.DesireState == v1beta2.InstanceStateRunning, r.Status.CurrentState,
		conditions.IsTrue(r.Status.Conditions, v1beta2.InstanceNodeDown), r.Status.UUID}
}

// is returns the state that may be relied upon. What was concluded of a node that is back is unknown until it is seen. An
// object without a state was never started: that is written before the first call.
func (w *World) is(i instance) string {
	switch {
	case !i.exists || i.state == "":
		return v1beta2.InstanceStateStopped
	case i.nodeDown && !w.down(i.node):
		return v1beta2.InstanceStateUnknown
	}
	return i.state
}

func (w *World) stopped(i instance) bool { return w.is(i) == v1beta2.InstanceStateStopped }

func (w *World) running(i instance) bool { return w.is(i) == v1beta2.InstanceStateRunning }
