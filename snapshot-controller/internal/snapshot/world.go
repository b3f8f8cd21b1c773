package snapshot

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// kindVolume is the kind of the owner reference that ties a Snapshot to one volume.
const kindVolume = "Volume"

// Place is a snapshot's position among the purges of its node.
type Place int

// The places.
const (
	// PlaceUnknown: none was requested.
	PlaceUnknown Place = iota
	// PlaceGranted: its volume is among those that may purge.
	PlaceGranted
	// PlaceRefused: others are before it.
	PlaceRefused
)

// Settings are the values in force for the volume's data engine.
type Settings struct {
	// PurgeDisabled forbids every purge.
	PurgeDisabled bool
	// MaxCount is how many snapshots a volume may have that names no number.
	MaxCount int
}

// World is everything that is known of one Snapshot. What does not exist is nil. What is read of these objects must be kept by the cache's
// thin functions in snapshotcontroller. Of a settled Snapshot only Volume, Attachment, Engine and Above are read.
type World struct {
	Now      time.Time
	Snapshot *v1beta2.Snapshot
	// Volume is the one that has the name in the Snapshot's spec, whoever it belongs to.
	Volume *v1beta2.Volume
	// Attachment is that volume's.
	Attachment *v1beta2.VolumeAttachment
	// Engine is the active one of the volume.
	Engine *v1beta2.Engine
	// Nodes lists the nodes whose upgrade delays a removal: the node of the engine and, for v2, the nodes of the replicas in use.
	Nodes []*v1beta2.Node
	// Candidate is the node for the volume if it has to be attached; empty: no node can.
	Candidate string
	// Taken counts the volume's Snapshots that were taken and are not marked removed, for a volume whose engine is not running.
	Taken int
	// Above are the names of the volume's Snapshots that build on this one. Of one that is being deleted: all that name it as their parent. Of
	// any other: those among the engine's listed children that have a Snapshot, and only where the stored children have the volume's head;
	// elsewhere nil, because they would change nothing.
	Above []string
	// Clones are the names of volumes that share this snapshot's data, or copy it.
	Clones []string
	// Backups are the names of Backups that copy this snapshot, or may begin to.
	Backups  []string
	Settings Settings
	Place    Place
}

// UID returns the UID of the volume that the Snapshot belongs to; empty: not recorded yet.
func UID(s *v1beta2.Snapshot) types.UID {
	for _, o := range s.OwnerReferences {
		if o.Kind == kindVolume && o.Name == s.Spec.Volume {
			return o.UID
		}
	}
	return ""
}

// running reports whether the volume's engine serves. One that was deleted under its volume serves until that is detached.
func (w World) running() bool {
	return w.Engine != nil && w.Engine.Status.CurrentState == v1beta2.InstanceStateRunning
}

// known reports whether the engine's list of snapshots can be believed: a whole one always has the head.
func (w World) known() bool {
	if !w.running() {
		return false
	}
	_, ok := w.Engine.Status.Snapshots[v1beta2.VolumeHead]
	return ok
}

// info is the running engine's entry of the snapshot; nil: it lists none, or no list is known. An entry that shows
// nothing of children has those that name it as their parent.
func (w World) info() *v1beta2.SnapshotInfo {
	if !w.known() {
		return nil
	}
	info, ok := w.Engine.Status.Snapshots[w.Snapshot.Name]
	if !ok || w.Snapshot.Name == v1beta2.VolumeHead {
		return nil
	}
	if info.Children == nil {
		info.Children = w.namedBy()
	}
	return &info
}

// ListedChildren are the names of what builds on the snapshot by the engine's list, the volume's head among them; nil: it is not listed.
func (w World) ListedChildren() map[string]bool {
	if info := w.info(); info != nil {
		return info.Children
	}
	return nil
}

// namedBy are the entries that name the snapshot as their parent; nil where there is none.
func (w World) namedBy() (out map[string]bool) {
	for name, other := range w.Engine.Status.Snapshots {
		if other.Parent != w.Snapshot.Name {
			continue
		}
		if out == nil {
			out = map[string]bool{}
		}
		out[name] = true
	}
	return out
}

func (w World) deleting() bool { return w.Snapshot.DeletionTimestamp != nil }

func (w World) isTrue(conditionType string) bool {
	return conditions.IsTrue(w.Snapshot.Status.Conditions, conditionType)
}

// failed reports whether the engine refused to take it, and that it was not requested again since.
func (w World) failed() bool {
	c := conditions.Get(w.Snapshot.Status.Conditions, v1beta2.SnapshotProvisioned)
	if c == nil || c.Status != v1beta2.ConditionFalse || c.Reason != v1beta2.ReasonFailed {
		return false
	}
	at, err := time.Parse(time.RFC3339, c.LastProbeTime)
	asked, problem := time.Parse(time.RFC3339, w.Snapshot.Status.RequestedTime)
	return err != nil || problem != nil || !asked.After(at)
}

func (w World) cancelled() bool {
	return conditions.IsFalse(w.Snapshot.Status.Conditions, v1beta2.SnapshotProvisioned) &&
		conditions.Reason(w.Snapshot.Status.Conditions, v1beta2.SnapshotProvisioned) == v1beta2.ReasonCancelled
}

// seen reports whether the snapshot was in the engine once.
func (w World) seen() bool { return w.Snapshot.Status.CreationTime != "" }
