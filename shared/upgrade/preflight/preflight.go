// Package preflight names everything that blocks the upgrade of a node, before anything is changed. Each kind of
// blocker is a function of its own. All of them are checked, so that a person reads all blockers at once.
//
// It is checked for all nodes when an upgrade begins, and for each node again when its upgrade begins.
package preflight

import (
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/upgrade/cluster"
)

// Kind is what blocks an upgrade, in one word.
type Kind string

// The kinds of blockers.
const (
	UnknownNode     Kind = "UnknownNode"
	NodeNotReady    Kind = "NodeNotReady"
	NoOtherNode     Kind = "NoOtherNode"
	ImageMissing    Kind = "ImageMissing"
	UnfitImage      Kind = "UnfitImage"
	DiskNotReady    Kind = "DiskNotReady"
	SkippedAttached Kind = "SkippedVolumeAttached"
	TooFewReplicas  Kind = "TooFewHealthyReplicas"
	TwoReplicas     Kind = "TwoReplicasOnNode"
	Degraded        Kind = "Degraded"
	Rebuilding      Kind = "Rebuilding"
	Migrating       Kind = "Migrating"
	Expanding       Kind = "Expanding"
	Restoring       Kind = "Restoring"
	Cloning         Kind = "Cloning"
	UblkFrontend    Kind = "UblkFrontend"
	NoFrontend      Kind = "NoFrontend"
	NotOnRecord     Kind = "FrontendNotOnRecord"
	SnapshotLimit   Kind = "SnapshotLimit"
	Purging         Kind = "RemovingSnapshot"
	BackingUp       Kind = "BackingUp"
	Standby         Kind = "Standby"
	RequestRefused  Kind = "RequestRefused"
	RequestsUntried Kind = "RequestsUntried"
)

// Passes reports whether the blocker ends by itself, soon.
func (k Kind) Passes() bool { return k == Purging || k == BackingUp }

// Image is what is known of the new image on a node.
type Image struct {
	// Missing is why the node cannot run the image; empty means that it can, or that it was not checked.
	Missing string
}

// World is the input of the blockers of one node.
type World struct {
	Node    string
	Cluster cluster.Cluster
	// Target is the new image; Image what is known of it on the node.
	Target string
	Image  Image
	// Skip are the volumes that the upgrade must not move.
	Skip []string
	// Own are the snapshots that the upgrade takes itself, by volume, as far as they have names.
	Own map[string]string
}

// Blocker is one thing that blocks the upgrade of a node; Volume is empty if it is the node itself, Node if it is about all nodes.
type Blocker struct {
	Node, Volume string
	Kind         Kind
	Message      string
}

// Blockers returns everything that blocks the upgrade of the node: of the node itself, then volume by volume.
// An upgraded node has none.
func Blockers(w World) []Blocker {
	node := w.Cluster.Nodes[w.Node]
	if node.Exists() && node.Upgraded(w.Target) {
		return nil
	}
	var out []Blocker
	for _, rule := range nodeRules {
		if message := rule.blocks(w); message != "" {
			out = append(out, Blocker{Node: w.Node, Kind: rule.kind, Message: message})
		}
	}
	for _, name := range w.Cluster.On(w.Node) {
		for _, rule := range volumeRules {
			if isStandby(w.Cluster.Volumes[name]) && !rule.ofStandby {
				continue // it is detached before anything of it is changed
			}
			if message := rule.blocks(w, w.Cluster.Volumes[name]); message != "" {
				out = append(out, Blocker{Node: w.Node, Volume: name, Kind: rule.kind, Message: message})
			}
		}
	}
	return out
}

// Each rule returns a sentence on what to do about it, or "".
var nodeRules = []struct {
	kind   Kind
	blocks func(World) string
}{
	{UnknownNode, unknownNode},
	{NodeNotReady, nodeNotReady},
	{NoOtherNode, noOtherNode},
	{ImageMissing, imageMissing},
	{UnfitImage, unfitImage},
	{DiskNotReady, diskNotReady},
}

var volumeRules = []struct {
	kind   Kind
	blocks func(World, cluster.Volume) string
	// ofStandby rules apply to standby volumes, too.
	ofStandby bool
}{
	{kind: SkippedAttached, blocks: skippedAttached},
	{kind: TooFewReplicas, blocks: tooFewReplicas},
	{kind: TwoReplicas, blocks: twoReplicas},
	{kind: Degraded, blocks: degraded},
	{kind: Rebuilding, blocks: rebuilding},
	{kind: Migrating, blocks: migrating},
	{kind: Expanding, blocks: expanding},
	{kind: Restoring, blocks: restoring},
	{kind: Cloning, blocks: cloning},
	{kind: UblkFrontend, blocks: ublkFrontend},
	{kind: NoFrontend, blocks: noFrontend},
	{kind: NotOnRecord, blocks: notOnRecord},
	{kind: SnapshotLimit, blocks: snapshotLimit},
	{kind: Purging, blocks: purging},
	{kind: BackingUp, blocks: backingUp},
	{kind: Standby, blocks: standby, ofStandby: true},
}

func unknownNode(w World) string {
	if w.Cluster.Nodes[w.Node].Exists() {
		return ""
	}
	return "there is no such Node; leave it out of spec.nodes."
}

func nodeNotReady(w World) string {
	node := w.Cluster.Nodes[w.Node]
	if !node.Exists() || node.Serves() {
		return ""
	}
	if node.Down() {
		return "the node is down; restore it first."
	}
	return "its v2 instance manager does not run; check the InstanceManager objects of the node."
}

// noOtherNode: a node without instances needs none.
func noOtherNode(w World) string {
	if len(w.Cluster.On(w.Node)) == 0 {
		return ""
	}
	for name, node := range w.Cluster.Nodes {
		if name != w.Node && node.Taking() {
			return ""
		}
	}
	if free := w.Cluster.KeptFree(w.Node); free != "" {
		return fmt.Sprintf("no other node may hold the targets of its volumes meanwhile: %s. Allow one of them to take the targets for "+
			"as long as the upgrade lasts (Node spec.allowScheduling true, spec.evictionRequested false), enable v2 on another node, or "+
			"detach the volumes.", free)
	}
	return "no other node has a running v2 instance manager that could hold the targets of its volumes meanwhile; enable v2 on another " +
		"node, repair the instance manager there, or detach the volumes."
}

// diskNotReady: the upgrade of the node could not end, because it waits for every disk that has replicas.
func diskNotReady(w World) string {
	node := w.Cluster.Nodes[w.Node]
	why := node.DiskNotReady("")
	if why == "" || !node.Exists() || !node.Serves() {
		return ""
	}
	return why + "; repair it, or remove it from the Node's spec."
}

func imageMissing(w World) string {
	if w.Image.Missing == "" || !w.Cluster.Nodes[w.Node].Exists() {
		return ""
	}
	return fmt.Sprintf("it cannot run %s: %s. Make the image available; if its name is wrong, correct the setting "+
		"default-instance-manager-image, delete the DataEngineUpgradeManager and create it again.", w.Target,
		strings.TrimSuffix(w.Image.Missing, "."))
}

func skippedAttached(w World, v cluster.Volume) string {
	if !slices.Contains(w.Skip, v.Object.Name) {
		return ""
	}
	return "it is named in spec.skipVolumes and must be detached before the upgrade of the node."
}

// tooFewReplicas: taking the replica out must leave a healthy copy on another node; before that there is more than one.
func tooFewReplicas(w World, v cluster.Volume) string {
	healthy := w.Cluster.Healthy(v)
	nodes := slices.Compact(slices.Clone(healthy))
	beside := w.Cluster.HealthyBeside(v, w.Node)
	if len(nodes) >= 2 { // so one of them is elsewhere
		return ""
	}
	return fmt.Sprintf("it has %d healthy replica(s) on %d node(s), %d of them on other nodes than this; two on different nodes are "+
		"needed, one of them elsewhere. Raise its numberOfReplicas, wait for the rebuild, or detach it.",
		len(healthy), len(nodes), beside)
}

func twoReplicas(w World, v cluster.Volume) string {
	if on := v.ReplicasOn(w.Node); len(on) > 1 {
		return fmt.Sprintf("replicas %s and %s are both on this node; delete one, so that it is rebuilt elsewhere.", on[0].Name, on[1].Name)
	}
	return ""
}

func degraded(_ World, v cluster.Volume) string {
	if v.Healthy() {
		return ""
	}
	return fmt.Sprintf("its robustness is %q; wait until it is healthy.", v.Object.Status.Robustness)
}

// ublkFrontend: such a frontend does not outlive the instance manager of its node, and no server switches it over to another target.
func ublkFrontend(w World, v cluster.Volume) string {
	if v.Object.Spec.Frontend != frontendUblk || v.Holder() != w.Node && !v.EngineOn(w.Node) {
		return ""
	}
	return "its frontend is ublk, which neither outlives the instance manager nor can be switched over to another target; detach it, or " +
		"attach it elsewhere."
}

// noFrontend: only a target with a frontend can move. A replica alone can leave its engine without one.
func noFrontend(w World, v cluster.Volume) string {
	if !v.Object.Status.FrontendDisabled && !v.Object.Spec.DisableFrontend || !v.EngineOn(w.Node) {
		return ""
	}
	return "it is attached without a frontend, so that its target cannot move; detach it."
}

// notOnRecord: a frontend whose record is lost with the instance manager's pod is unknown to the next one. Without a pod there is no
// frontend.
func notOnRecord(w World, v cluster.Volume) string {
	manager := w.Cluster.Nodes[w.Node].Running()
	if v.Holder() != w.Node || manager == nil || conditions.IsTrue(manager.Status.Conditions, v1beta2.InstanceManagerFrontendRecords) {
		return ""
	}
	if conditions.Get(manager.Status.Conditions, v1beta2.InstanceManagerFrontendRecords) == nil {
		return fmt.Sprintf("instance manager %s does not report whether its frontends outlive its pod (condition FrontendRecords); "+
			"update im-monitor, which then reports it.", manager.Name)
	}
	return fmt.Sprintf("the pod of instance manager %s has no mount at /metadata, so that the frontend would be lost with the pod; "+
		"detach every volume that uses the node once: the pod is then recreated with that mount.", manager.Name)
}

const frontendUblk = "ublk"
