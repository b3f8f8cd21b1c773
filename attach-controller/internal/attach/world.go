package attach

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// World is what was read about one volume.
type World struct {
	Now time.Time
	// Volume is nil where it does not exist.
	Volume *Volume
	// Attachment is nil if it does not exist: there is no ticket and no answer.
	Attachment *Attachment
	// Nodes are those of the tickets and the volume; a missing one does not exist.
	Nodes map[string]Node
	// Engines and Frontends are those of a volume that migrates; of others they need not be read.
	Engines   []Engine
	Frontends []Frontend
	// ReplicaNodes are the nodes of a strict-local volume's data; empty: it has none yet, or need not be read.
	ReplicaNodes []string
}

// Spec is the part of Volume.spec that this package decides.
type Spec struct {
	NodeID, MigrationNodeID string
	DisableFrontend         bool
	LastAttachedBy          string
}

// Volume is the relevant part of a Volume.
type Volume struct {
	Name     string
	Deleting bool
	Spec
	// Shared: pods reach it by its share, so that their tickets do not attach it.
	Shared bool
	// Migratable: two nodes may hold it while it moves.
	Migratable bool
	// StrictLocal: it runs only where its replica is.
	StrictLocal bool
	// Unfilled: it still waits for data from a backup or another volume, and is attached without its frontend only until that is whole.
	Unfilled bool
	// V2: it needs a frontend of its own on its node.
	V2 bool
	// Relocated: its target is on another node during an upgrade, or is to go there. TargetNodeID is the
	// wanted node of the target; empty means the node of the volume.
	Relocated    bool
	TargetNodeID string

	State                                 string
	CurrentNodeID, CurrentMigrationNodeID string
	FrontendDisabled, Faulted             bool
	// Upgrading: its engine does not start, because the data engine of its node is being upgraded.
	Upgrading bool
	// Blocker is the message of what blocks the volume; empty: nothing is known to block.
	Blocker string
	// MigrationFailed is what keeps failing at the target of the migration, and when it is tried again; empty if nothing failed.
	// MigrationWaits is what the migration waits for.
	MigrationFailed, MigrationWaits string
	// Fault is the message on why the volume is faulted; empty if it is not, or the cause is unknown.
	Fault string
}

// Attachment is the relevant part of a VolumeAttachment.
type Attachment struct {
	Generation int64
	// Tickets are by key, which is their id.
	Tickets map[string]v1beta2.AttachmentTicket
	// Stored is its status.
	Stored v1beta2.VolumeAttachmentStatus
}

// Node is the relevant part of a node that exists. A node that is NotReady is not down, but cannot serve a volume now.
type Node struct{ Down, NotReady, Cordoned, Upgrading bool }

// Engine is the relevant part of an engine.
type Engine struct {
	// Node is empty for one that does not count.
	Node, State string
	// Snapshots is equal for two engines that list the same snapshots.
	Snapshots uint64
}

// Frontend is the relevant part of an engine frontend.
type Frontend struct{ Node, State string }

// Migrating reports whether two nodes hold the volume, or must: the target may still be starting, or the source stopping.
func (v Volume) Migrating() bool { return v.MigrationNodeID != "" || v.CurrentMigrationNodeID != "" }

// confirming reports whether the target became the volume's node and the source is still leaving.
func (v Volume) confirming() bool {
	return v.MigrationNodeID == "" && v.CurrentMigrationNodeID != "" && v.CurrentNodeID != v.NodeID
}

// attachableAnywhere reports whether the volume is on no node, and can be attached to any (row A2).
func (v Volume) attachableAnywhere() bool {
	return v.State == v1beta2.VolumeStateDetached && v.CurrentNodeID == "" && v.CurrentMigrationNodeID == "" && !v.Faulted
}

// onWantedNode reports whether the volume is on the wanted node.
func (v Volume) onWantedNode() bool {
	return v.State == v1beta2.VolumeStateAttached && v.NodeID != "" && v.CurrentNodeID == v.NodeID
}

// down reports whether a node is out of service, or does not exist.
func (w World) down(name string) bool {
	node, exists := w.Nodes[name]
	return !exists || node.Down
}

// serves reports whether a volume can be attached to a node now, as far as is known.
func (w World) serves(name string) bool { return !w.down(name) && !w.Nodes[name].NotReady }

// running reports whether the volume runs on a node to which it migrates.
func (w World) running(node string) bool {
	if w.engineOn(node).State != v1beta2.InstanceStateRunning {
		return false
	}
	if !w.Volume.V2 {
		return true
	}
	for _, f := range w.Frontends {
		if f.Node == node && f.State == v1beta2.InstanceStateRunning {
			return true
		}
	}
	return false
}

// engineOn returns the zero Engine where there is none.
func (w World) engineOn(node string) Engine {
	for _, e := range w.Engines {
		if e.Node == node {
			return e
		}
	}
	return Engine{}
}

// sameSnapshots reports whether the engine on the node lists what every other engine lists.
func (w World) sameSnapshots(node string) bool {
	target, others := w.engineOn(node), 0
	for _, e := range w.Engines {
		if e.Node == node || e.Node == "" {
			continue
		}
		if others++; e.Snapshots != target.Snapshots {
			return false
		}
	}
	return others > 0
}
