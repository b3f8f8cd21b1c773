package replica

import (
	"cmp"
	"slices"
	"time"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	sharedsetting "drover.dev/drover/shared/setting"
)

// World is everything that was read about one volume. Objects are from the cache: they are never modified.
type World struct {
	Now time.Time
	// Volume is nil if it does not exist; its UID shows whether the replicas belong to it.
	Volume *v1beta2.Volume
	// Engine is the volume's active one; nil: none.
	Engine *v1beta2.Engine
	// Replicas are the volume's, in order of their names.
	Replicas []*v1beta2.Replica
	// Second are further processes over the directories of v1 replicas, which a migration starts: no copies. Only their finalizers are
	// dropped, once they have ended.
	Second []*v1beta2.Replica
	// Previous are replicas of a previous volume of the same name: only their finalizers are dropped.
	Previous []*v1beta2.Replica
	// Nodes are those of the replicas; a missing one does not exist.
	Nodes map[string]*v1beta2.Node
	// Rebuilding counts the replicas under rebuild by node: of Nodes, and of Candidates where they were read.
	Rebuilding map[string]int
	// Listed are the instances that instance managers list under the name of a replica that is being deleted.
	Listed   map[string][]abandoned.Listing
	Settings setting.Values
	// Upgrades are the live upgrades under way that list the volume, or are of a node of its replicas.
	Upgrades []Upgrade
	// WorkloadNode is where a workload waits for the volume, read only if FollowsWorkload returned true; empty: none does.
	WorkloadNode string
	// Candidates are all nodes, read only if Needs returned true.
	Candidates []placement.Node

	// failures counts the failed rebuilds in this evaluation; nil: no rebuild failed.
	failures *v1beta2.RebuildFailures
}

// Image is the engine image that replicas of the volume run; empty if none is set.
func (w *World) Image() string {
	return cmp.Or(w.Volume.Spec.Image, w.Settings.DefaultEngineImage)
}

func (w *World) attached() bool {
	v := w.Volume
	return v.Status.State == v1beta2.VolumeStateAttached && v.Spec.NodeID != "" && v.Spec.NodeID == v.Status.CurrentNodeID &&
		!w.migrating() && v.Status.Robustness != v1beta2.VolumeRobustnessFaulted && w.engineUp() && w.Engine.Spec.NodeID == w.engineNode()
}

// migrating reports whether the volume moves between two nodes, or is to.
func (w *World) migrating() bool {
	return w.Volume.Spec.MigrationNodeID != "" || w.Volume.Status.CurrentMigrationNodeID != ""
}

func (w *World) engineUp() bool {
	e := w.Engine
	return e != nil && e.Spec.DesireState == v1beta2.InstanceStateRunning && e.Status.CurrentState == v1beta2.InstanceStateRunning &&
		!conditions.IsTrue(e.Status.Conditions, v1beta2.InstanceNodeDown) && !v1beta2.IsNodeDown(w.Nodes[e.Spec.NodeID])
}

// busy reports whether the engine copies or grows at this moment: no rebuild may disturb that. While a volume waits for its source or for
// its next backup, rebuilds go on.
func (w *World) busy() bool {
	return w.Engine.Status.IsExpanding || v1beta2.IsCloning(w.Engine.Status.CloneStatus)
}

// fillsByRestore reports whether the engine's next restore fills the replicas that it gets now: the volume takes its data from backups. A
// v2 engine rebuilds them all the same.
func (w *World) fillsByRestore() bool {
	return w.Volume.Status.RestoreRequired && w.Volume.Spec.DataEngine != v1beta2.DataEngineV2
}

func (w *World) mode(r *v1beta2.Replica) string {
	if w.Engine == nil {
		return ""
	}
	if _, mapped := w.Engine.Spec.ReplicaAddressMap[r.Name]; !mapped {
		return ""
	}
	return w.Engine.Status.ReplicaModeMap[r.Name]
}

func (w *World) down(r *v1beta2.Replica) bool { return v1beta2.IsNodeDown(w.Nodes[r.Spec.NodeID]) }

// leaves reports whether a replica is to leave its node or disk: a person asked for that, or a drain does.
func (w *World) leaves(r *v1beta2.Replica) bool {
	n := w.Nodes[r.Spec.NodeID]
	if n == nil {
		return false
	}
	if n.Spec.EvictionRequested {
		return true
	}
	if spec, _, ok := diskOf(n, r.Spec.DiskID); ok && spec.EvictionRequested {
		return true
	}
	return w.drained(r, n)
}

// drained reports whether a replica leaves its node because that is cordoned, by the setting node-drain-policy: each one, or each that may
// be its volume's last one. Once that was decided it stays so until the node takes pods again: with its successor healthy it is not the
// last one any more, and is the one that goes.
func (w *World) drained(r *v1beta2.Replica, n *v1beta2.Node) bool {
	switch {
	case !n.Status.AutoEvicting || !w.Settings.DrainPolicy.Evicts() || v1beta2.IsNodeDown(n):
		return false
	case w.Settings.DrainPolicy == sharedsetting.BlockForEviction || r.Spec.EvictionRequested:
		return true
	}
	return !slices.ContainsFunc(w.Replicas, func(o *v1beta2.Replica) bool {
		on := w.Nodes[o.Spec.NodeID]
		return o.Name != r.Name && v1beta2.IsReplicaHealthy(o) && !v1beta2.IsNodeDown(on) && !on.Status.AutoEvicting &&
			!v1beta2.IsNodeCordoned(on)
	})
}

// diskOf finds a node's disk by its UUID.
func diskOf(n *v1beta2.Node, uuid string) (v1beta2.DiskSpec, v1beta2.DiskStatus, bool) {
	for key, status := range n.Status.DiskStatus {
		if status.DiskUUID == uuid && uuid != "" {
			spec, ok := n.Spec.Disks[key]
			return spec, status, ok
		}
	}
	return v1beta2.DiskSpec{}, v1beta2.DiskStatus{}, false
}

// groups are the volume's replicas by what they are good for.
type groups struct {
	// healthy have all data; staying ones are neither evicted nor on a node that is down.
	healthy, staying []*v1beta2.Replica
	// coming are being rebuilt, or were never used yet.
	coming []*v1beta2.Replica
	// failed ones lack data; those that were to be rebuilt on a node that went down before are among them.
	failed []*v1beta2.Replica
	going  []*v1beta2.Replica
	// unplaced ones have neither a node nor data: longhorn-manager creates a replica before it has a place, and places it later.
	unplaced []*v1beta2.Replica
}

func (w *World) groups() groups {
	var g groups
	for _, r := range w.Replicas {
		switch {
		case r.DeletionTimestamp != nil:
			g.going = append(g.going, r)
		case w.unplaced(r):
			g.unplaced = append(g.unplaced, r)
		case r.Spec.FailedAt != "" || w.stranded(r) || r.Spec.NodeID == "" && r.Spec.HealthyAt == "":
			g.failed = append(g.failed, r)
		case r.Spec.HealthyAt == "":
			g.coming = append(g.coming, r)
		default:
			g.healthy = append(g.healthy, r)
			if !w.leaves(r) && !w.down(r) {
				g.staying = append(g.staying, r)
			}
		}
	}
	return g
}

// stranded reports whether a replica was to be rebuilt on a node that is down, and no engine got it: no engine will mark it as failed.
func (w *World) stranded(r *v1beta2.Replica) bool {
	if r.Spec.HealthyAt != "" || !w.down(r) || !w.everHealthy() || w.Engine == nil {
		return false
	}
	_, mapped := w.Engine.Spec.ReplicaAddressMap[r.Name]
	return !mapped
}

// everHealthy reports whether the volume was attached once. The volume records it, too, since its replicas may be gone.
func (w *World) everHealthy() bool {
	if w.Volume != nil && v1beta2.EverAttached(w.Volume) {
		return true
	}
	for _, r := range w.Replicas {
		if r.Spec.HealthyAt != "" || r.Spec.LastHealthyAt != "" {
			return true
		}
	}
	return false
}

func parse(at string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return time.Time{}
	}
	return t
}
