package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/snapshotlimit"
)

// Blocker is one thing that stands against the upgrade of a node. The kinds are those of upgrade-controller's condition Preflight.
type Blocker struct {
	Node string `json:"node"`
	// Volume is empty if it is the node itself.
	Volume  string `json:"volume,omitempty"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Each rule returns a sentence on what to do about it, or "".
var nodeRules = []struct {
	kind   string
	blocks func(facts, node) string
}{
	{"NodeNotReady", nodeNotReady},
	{"NoOtherNode", noOtherNode},
	{"DiskNotReady", diskNotReady},
}

var volumeRules = []struct {
	kind   string
	blocks func(facts, volume, node) string
}{
	{"TooFewHealthyReplicas", tooFewReplicas},
	{"TwoReplicasOnNode", twoReplicas},
	{"Degraded", degraded},
	{"Rebuilding", rebuilding},
	{"Migrating", migrating},
	{"Expanding", expanding},
	{"Restoring", restoring},
	{"Cloning", cloning},
	{"UblkFrontend", ublkFrontend},
	{"NoFrontend", noFrontend},
	{"FrontendNotOnRecord", notOnRecord},
	{"SnapshotLimit", snapshotLimit},
	{"RemovingSnapshot", removingSnapshot},
	{"BackingUp", backingUp},
}

// blockers returns everything that stands against the upgrade of the node: of the node itself, then volume by volume.
func (f facts) blockers(name string, skip []string) []Blocker {
	n := f.nodes[name]
	if !n.exists() {
		return []Blocker{{Node: name, Kind: "UnknownNode", Message: "there is no such Node; leave it out of spec.nodes."}}
	}
	var out []Blocker
	for _, rule := range nodeRules {
		if message := rule.blocks(f, n); message != "" {
			out = append(out, Blocker{Node: name, Kind: rule.kind, Message: message})
		}
	}
	for _, v := range f.volumes {
		if !v.on(name) || v.Spec.Standby {
			continue // a standby volume is detached before anything of it is changed
		}
		if slices.Contains(skip, v.Name) {
			out = append(out, Blocker{name, v.Name, "SkippedVolumeAttached", "it must be detached before the upgrade of the node."})
		}
		for _, rule := range volumeRules {
			if message := rule.blocks(f, v, n); message != "" {
				out = append(out, Blocker{Node: name, Volume: v.Name, Kind: rule.kind, Message: message})
			}
		}
	}
	return out
}

func nodeNotReady(f facts, n node) string {
	switch {
	case n.serves():
		return ""
	case v1beta2.IsNodeDown(n.object):
		return "the node is down; restore it first."
	}
	return "its v2 instance manager does not run; see: " + f.world.Suggest("kubectl -n {ns} get lhim -o wide", nil)
}

// noOtherNode: a node that carries no volume needs none.
func noOtherNode(f facts, n node) string {
	if !slices.ContainsFunc(f.volumes, func(v volume) bool { return v.on(n.name) }) {
		return ""
	}
	var kept []string
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		other := f.nodes[name]
		if name == n.name || !other.able() {
			continue
		}
		if other.keptFree() == "" {
			return ""
		}
		kept = append(kept, name+" ("+other.keptFree()+")")
	}
	if len(kept) > 0 {
		return "no other node may hold the targets of its volumes meanwhile: " + strings.Join(kept, ", ") + ". Allow one of them to."
	}
	return "no other node has a running v2 instance manager that could hold the targets of its volumes meanwhile."
}

func diskNotReady(_ facts, n node) string {
	for _, key := range slices.Sorted(maps.Keys(n.object.Spec.Disks)) {
		disk := n.object.Status.DiskStatus[key]
		if n.object.Spec.Disks[key].DiskType != v1beta2.DiskTypeBlock || disk.DiskUUID == "" || !n.serves() {
			continue
		}
		if !conditions.IsTrue(disk.Conditions, v1beta2.DiskReady) {
			return fmt.Sprintf("disk %s is not ready (%s); repair it, or remove it from the Node's spec.", key,
				cmp.Or(conditions.Reason(disk.Conditions, v1beta2.DiskReady), "no reason is known"))
		}
		if disk.Load != nil && disk.Load.State != v1beta2.DiskLoadReady {
			return fmt.Sprintf("disk %s is being loaded; wait until that is done.", key)
		}
	}
	return ""
}

// tooFewReplicas: without the replica on the node a healthy copy must be left elsewhere, and two must be healthy in all.
func tooFewReplicas(f facts, v volume, n node) string {
	healthy := f.healthyNodes(v)
	nodes := slices.Compact(slices.Clone(healthy))
	beside := 0
	for _, name := range healthy {
		if name != n.name {
			beside++
		}
	}
	if len(healthy) >= 2 && len(nodes) >= 2 && beside >= 1 {
		return ""
	}
	return fmt.Sprintf("it has %d healthy replica(s) on %d node(s), %d of them on other nodes than this; two on different nodes are needed, "+
		"one of them elsewhere. Raise its numberOfReplicas, wait for the rebuild, or detach it.", len(healthy), len(nodes), beside)
}

func twoReplicas(_ facts, v volume, n node) string {
	if on := v.replicasOn(n.name); len(on) > 1 {
		return fmt.Sprintf("replicas %s and %s are both on this node; delete one, so that it is rebuilt elsewhere.", on[0].Name, on[1].Name)
	}
	return ""
}

func degraded(_ facts, v volume, _ node) string {
	if v.Status.Robustness == v1beta2.VolumeRobustnessHealthy {
		return ""
	}
	return fmt.Sprintf("its robustness is %q; wait until it is healthy.", v.Status.Robustness)
}

func rebuilding(_ facts, v volume, _ node) string {
	for _, e := range v.engines {
		for _, replica := range slices.Sorted(maps.Keys(e.Status.ReplicaModeMap)) {
			if e.Status.ReplicaModeMap[replica] == v1beta2.ReplicaModeWO {
				return fmt.Sprintf("replica %s is being rebuilt; wait until that is done.", replica)
			}
		}
	}
	return ""
}

func migrating(_ facts, v volume, _ node) string {
	if v.Spec.MigrationNodeID == "" && v.Status.CurrentMigrationNodeID == "" {
		return ""
	}
	return "it moves live to another node; wait until that is done."
}

func expanding(_ facts, v volume, _ node) string {
	e := v.active()
	if !v.Status.ExpansionRequired && (e == nil || !e.Status.IsExpanding && (e.Spec.VolumeSize == 0 || e.Spec.VolumeSize >= v1beta2.SizeOf(v.Volume))) {
		return ""
	}
	return "it is being expanded; wait until that is done."
}

func restoring(_ facts, v volume, _ node) string {
	if v.Status.RestoreRequired {
		return "it gets its data from a backup; wait until that is done."
	}
	return ""
}

func cloning(_ facts, v volume, _ node) string {
	switch {
	case v.Status.CloneStatus.State == v1beta2.CloneInitiated:
		return "it gets its data from another volume; wait until that is done."
	case len(v.clones) > 0:
		return fmt.Sprintf("volume %s gets its data from it; wait until that is done.", v.clones[0])
	}
	return ""
}

func ublkFrontend(_ facts, v volume, n node) string {
	if v.Spec.Frontend != "ublk" || v.holder() != n.name && !v.engineOn(n.name) {
		return ""
	}
	return "its frontend is ublk, which cannot be switched over to another target; detach it, or attach it elsewhere."
}

func noFrontend(_ facts, v volume, n node) string {
	if !v.Status.FrontendDisabled && !v.Spec.DisableFrontend || !v.engineOn(n.name) {
		return ""
	}
	return "it is attached without a frontend, so that its target cannot move; detach it."
}

func notOnRecord(_ facts, v volume, n node) string {
	m := n.running()
	if v.holder() != n.name || m == nil || conditions.IsTrue(m.Status.Conditions, v1beta2.InstanceManagerFrontendRecords) {
		return ""
	}
	return fmt.Sprintf("instance manager %s does not report that its frontends outlive its pod (condition FrontendRecords); detach every "+
		"volume that uses the node once, so that the pod is made again.", m.Name)
}

func snapshotLimit(f facts, v volume, n node) string {
	e := v.active()
	if e == nil {
		return ""
	}
	taken, count := 1, 0
	if len(v.replicasOn(n.name)) > 0 {
		taken++
	}
	for name, info := range e.Status.Snapshots {
		if name != snapshotlimit.Head && !info.Removed {
			count++
		}
	}
	limit := cmp.Or(max(e.Status.SnapshotMaxCount, 0), max(e.Spec.SnapshotMaxCount, 0), snapshotlimit.MaxDisks)
	if count+taken <= limit {
		return ""
	}
	return fmt.Sprintf("it has %d snapshots and may have %d, and the upgrade takes %d; delete some (%s), or raise snapshotMaxCount.", count, limit,
		taken, f.world.Suggest("kubectl drover snapshots prune {volume} --keep {keep} --dry-run -n {ns}",
			world.Values{"volume": v.Name, "keep": fmt.Sprint(max(limit-taken, 1))}))
}

func removing(s *v1beta2.Snapshot) bool {
	return s.DeletionTimestamp != nil && conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotRemovalApproved) &&
		!conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotWithdrawn)
}

func removingSnapshot(_ facts, v volume, _ node) string {
	if len(v.removals) == 0 {
		return ""
	}
	return fmt.Sprintf("snapshot %s is being removed; wait until that is done.", v.removals[0])
}

func backingUp(_ facts, v volume, _ node) string {
	if len(v.backups) == 0 {
		return ""
	}
	return fmt.Sprintf("backup %s is being taken; wait until that is done.", v.backups[0])
}
