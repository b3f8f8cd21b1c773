package model

import (
	"math/rand"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

// Controller is upgrade-controller in memory: its decisions are applied one write after the other.
type Controller struct {
	World *World
	Now   time.Time
	// Random and Kill make it crash between two writes with this probability; nil: never.
	Random *rand.Rand
	Kill   float64
	// Refuse is the probability with which the API server refuses a write to another object than an upgrade.
	Refuse float64
	// Wrong is a forbidden transition: set once, empty if there was none.
	Wrong string
}

// dies reports whether the process ends before the next write.
func (c *Controller) dies() bool { return c.Random != nil && c.Random.Float64() < c.Kill }

// refused reports whether the API server refuses the next write to another object.
func (c *Controller) refused() bool {
	return c.Random != nil && c.Refuse > 0 && c.Random.Float64() < c.Refuse
}

// Pass decides once about every upgrade.
func (c *Controller) Pass() {
	c.World.AnswerRehearsals(plan.Triers...)
	for _, m := range of(c.World.Plans, all[v1beta2.DataEngineUpgradeManager]) {
		c.plan(m)
	}
	for _, u := range of(c.World.Upgrades, all[v1beta2.NodeDataEngineUpgrade]) {
		c.node(u)
	}
}

func (c *Controller) plan(m *v1beta2.DataEngineUpgradeManager) {
	w := plan.World{Now: c.Now, Manager: m, DefaultImage: NewImage, Cluster: c.World.Cluster(), Fresh: true,
		Images: map[string]plan.Image{}}
	for name := range c.World.Nodes {
		w.Images[name] = plan.Image{Known: true}
	}
	w.Others = of(c.World.Plans, func(o *v1beta2.DataEngineUpgradeManager) bool { return o != m })
	w.Upgrades = of(c.World.Upgrades, all[v1beta2.NodeDataEngineUpgrade])
	v := plan.Decide(w)
	if blind := w; !plan.ReadsCluster(m) {
		blind.Cluster = cluster.Cluster{}
		c.same(v, plan.Decide(blind), "an upgrade was decided on with a cluster that is not read for it")
	}
	switch {
	case c.dies():
		return
	case v.AddFinalizer:
		m.Finalizers = append(m.Finalizers, v1beta2.Finalizer)
		return
	case v.DropFinalizer:
		delete(c.World.Plans, m.Name)
		return
	}
	m.Status = v.Status
	for _, u := range v.Delete {
		u.DeletionTimestamp = &metav1.Time{Time: c.Now}
	}
	if v.Create == "" || c.dies() {
		return
	}
	u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: c.World.Meta(v.CreateName)}
	u.Finalizers = []string{v1beta2.Finalizer}
	u.Spec = v1beta2.NodeDataEngineUpgradeSpec{NodeID: v.Create, DataEngine: v1beta2.DataEngineV2,
		InstanceManagerImage: v.Status.InstanceManagerImage, DataEngineUpgradeManager: m.Name}
	c.World.Upgrades[u.Name] = u
}

func (c *Controller) node(u *v1beta2.NodeDataEngineUpgrade) {
	w := nodeupgrade.World{
		Now: c.Now, Upgrade: u, Manager: c.World.Plans[u.Spec.DataEngineUpgradeManager], Cluster: c.World.Cluster(),
		Snapshots: c.World.Snapshots, Fresh: true,
		Others: of(c.World.Upgrades, func(o *v1beta2.NodeDataEngineUpgrade) bool { return o != u }),
	}
	v := nodeupgrade.Decide(w)
	w.Cluster = c.World.around(u)
	c.same(v, nodeupgrade.Decide(w), "the upgrade of a node was decided on with volumes that are not read for it")
	refused, dead := c.effects(v.Effects)
	if dead {
		return
	}
	switch {
	case c.dies(), refused && (v.DropFinalizer || v.Status.State != u.Status.State):
	case v.DropFinalizer:
		delete(c.World.Upgrades, u.Name)
	default:
		c.forward(u.Status, v.Status)
		u.Status = v.Status
	}
}

// forward: once the old instance manager is not as it was, an upgrade is not rolled back any more.
func (c *Controller) forward(before, after v1beta2.NodeDataEngineUpgradeStatus) {
	if before.State != v1beta2.UpgradeStateUpgradingInstanceManager || after.State != v1beta2.UpgradeStateRollingBack {
		return
	}
	if old := c.World.named(before.OldInstanceManager); old == nil || old.Status.CurrentState != v1beta2.InstanceManagerStateRunning {
		c.Wrong = "UPG-4: it was rolled back after the instance manager was replaced"
	}
}

// same compares two decisions: on everything, and on what the reconciler reads.
func (c *Controller) same(all, read any, wrong string) {
	if !reflect.DeepEqual(all, read) {
		c.Wrong = wrong
	}
}

// around is the cluster as the reconciler reads it for the upgrade of a node: the volumes that use the node or are named, and how
// many targets each node has only if that is needed.
func (w *World) around(u *v1beta2.NodeDataEngineUpgrade) cluster.Cluster {
	out := w.Cluster()
	load := map[string]int{}
	for name := range out.Nodes {
		load[name] = out.Engines(name)
	}
	for name, v := range out.Volumes {
		_, named := u.Status.Volumes[name]
		uses := v.Object.Spec.NodeID == u.Spec.NodeID || v.Object.Status.CurrentNodeID == u.Spec.NodeID ||
			slices.ContainsFunc(v.Engines, func(e *v1beta2.Engine) bool { return e.Spec.NodeID == u.Spec.NodeID }) ||
			slices.ContainsFunc(v.Replicas, func(r *v1beta2.Replica) bool { return r.Spec.NodeID == u.Spec.NodeID })
		if !named && !uses {
			delete(out.Volumes, name)
		}
	}
	if nodeupgrade.Chooses(u, out) {
		out.Load = load
	}
	return out
}

// effects does effects in their order, those of volumes beside one another. It reports whether one was refused, and whether the process
// ended meanwhile.
func (c *Controller) effects(list []nodeupgrade.Effect) (refused, dead bool) {
	for i, e := range list {
		switch {
		case c.dies():
			return refused, true
		case refused && (e.Volume == "" || list[i-1].Volume == ""): // it must come after one that was refused
			return true, false
		case c.refused():
			refused = true
		default:
			c.effect(e)
		}
	}
	return refused, false
}

func (c *Controller) effect(e nodeupgrade.Effect) {
	switch e.Kind {
	case nodeupgrade.CloseNode, nodeupgrade.OpenNode:
		c.World.Nodes[e.Name].Spec.UpgradeRequested = e.Kind == nodeupgrade.CloseNode
	case nodeupgrade.SetTarget:
		c.World.Volumes[e.Volume].Spec.TargetNodeID = e.Node
	case nodeupgrade.RequestPoll:
		c.World.Engines[e.Name].Spec.LookRequestedAt = e.At.Format(time.RFC3339Nano)
	case nodeupgrade.TakeSnapshot:
		c.World.Snapshots[e.Name] = &v1beta2.Snapshot{ObjectMeta: c.World.Meta(e.Name),
			Spec: v1beta2.SnapshotSpec{Volume: e.Volume, CreateSnapshot: true}}
	case nodeupgrade.DropSnapshot:
		c.World.Snapshots[e.Name].DeletionTimestamp = &metav1.Time{Time: c.Now}
	}
}

// Violation names the invariant that the world violates, "" if none. Volumes in excused lost their target to a fault.
func (w *World) Violation(excused map[string]bool) string {
	closed := of(w.Nodes, func(n *v1beta2.Node) bool { return n.Spec.UpgradeRequested })
	under := of(w.Upgrades, func(u *v1beta2.NodeDataEngineUpgrade) bool {
		return !nodeupgrade.Ended(u.Status.State) && !slices.Contains([]string{"", v1beta2.UpgradeStateUndefined}, u.Status.State)
	})
	if len(closed) > 1 || len(under) > 1 {
		return "UPG-2: two nodes are upgraded at once"
	}
	for name, v := range w.Volumes {
		switch {
		case v.Status.State != v1beta2.VolumeStateAttached || w.Serving(name):
			delete(excused, name)
		case excused[name]:
		case w.Usable(name, "") == 0:
			return "UPG-1: volume " + name + " lost its last healthy replica"
		default:
			return "UPG-3: volume " + name + " lost its target"
		}
	}
	return ""
}

// Serving reports whether the volume can be read and written.
func (w *World) Serving(volume string) bool {
	return !v1beta2.IsNodeDown(w.Nodes[w.Volumes[volume].Status.CurrentNodeID]) && w.Active(volume) != nil && w.Usable(volume, "") > 0
}
