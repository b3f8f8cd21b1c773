package upgrade

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
)

// ready is a world of two nodes that run image old, while the setting names new: nothing stands against an upgrade.
func ready() *world.World {
	w := &world.World{Namespace: "longhorn-system"}
	w.Settings.Items = []v1beta2.Setting{{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Value: "x"},
		{ObjectMeta: metav1.ObjectMeta{Name: imageSetting}, Value: "new"}}
	for _, name := range []string{"node-1", "node-2"} {
		w.Nodes.Items = append(w.Nodes.Items, v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1beta2.NodeSpec{AllowScheduling: true}})
		w.InstanceManagers.Items = append(w.InstanceManagers.Items, v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: "im-" + name},
			Spec: v1beta2.InstanceManagerSpec{NodeID: name, Image: "old", DataEngine: v1beta2.DataEngineV2, Type: v1beta2.InstanceManagerTypeAIO},
			Status: v1beta2.InstanceManagerStatus{CurrentState: v1beta2.InstanceManagerStateRunning, APIVersion: 4,
				Conditions: []v1beta2.Condition{{Type: v1beta2.InstanceManagerFrontendRecords, Status: v1beta2.ConditionTrue}}}})
	}
	return w
}

// carrying adds the healthy volume vol-1 on node-1, with a replica on each node.
func carrying(w *world.World) {
	w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}, Spec: v1beta2.VolumeSpec{NodeID: "node-1",
		DataEngine: v1beta2.DataEngineV2, NumberOfReplicas: 2, Size: 1000, Frontend: "blockdev"}, Status: v1beta2.VolumeStatus{
		State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1", Robustness: v1beta2.VolumeRobustnessHealthy}}}
	e := v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "vol-1-e"}}
	e.Spec = v1beta2.EngineSpec{VolumeName: "vol-1", NodeID: "node-1", Active: true, DataEngine: v1beta2.DataEngineV2, VolumeSize: 1000,
		DesireState: v1beta2.InstanceStateRunning, ReplicaAddressMap: map[string]string{}}
	e.Status.CurrentState, e.Status.ReplicaModeMap = v1beta2.InstanceStateRunning, map[string]string{}
	e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{v1beta2.VolumeHead: {}}
	for _, node := range []string{"node-1", "node-2"} {
		r := v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "r-" + node}}
		r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DesireState = "vol-1", node, v1beta2.InstanceStateRunning
		r.Status.CurrentState = v1beta2.InstanceStateRunning
		w.Replicas.Items = append(w.Replicas.Items, r)
		e.Spec.ReplicaAddressMap[r.Name], e.Status.ReplicaModeMap[r.Name] = "10.0.0.1:20000", v1beta2.ReplicaModeRW
	}
	w.Engines.Items = []v1beta2.Engine{e}
}

func done(w *world.World) {
	for i := range w.InstanceManagers.Items {
		w.InstanceManagers.Items[i].Spec.Image = "new"
	}
}

func text(r interface{ Text(*terminal.Printer) }) string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	return out.String()
}

const checked = `
Only upgrade-controller checks, once the upgrade began
  whether each node can run the image: pods try it on the nodes
  whether the volumes' engines still are as they were polled last: each is polled again before anything is changed
  whether a snapshot of each volume can be taken, and its target switched over
`

func TestAPlanWithoutBlockersLeadsToTheUpgrade(t *testing.T) {
	w := ready()
	carrying(w)
	plan := PlanOf(w, Wish{})
	require.False(t, plan.Blocked())
	require.Equal(t, `Nothing in the objects blocks upgrading to new.

NODE     TARGETS   REPLICAS   VOLUMES   UPGRADE     IMAGE
node-2   0         1          1         can begin   old
node-1   1         1          1         can begin   old
`+checked+`
Next
  kubectl -n longhorn-system create -f - <<< '{"apiVersion":"longhorn.io/v1beta2","kind":"DataEngineUpgradeManager",`+
		`"metadata":{"generateName":"upgrade-"},"spec":{"dataEngine":"v2"}}'
  kubectl drover upgrade watch -n longhorn-system
      docs/upgrading.md
`, text(plan))
	require.Equal(t, []string{"node.longhorn.io/node-2", "node.longhorn.io/node-1"}, plan.Names())
}

// The command upgrades what was planned, and nothing else.
func TestTheManifestHasTheNodesAndVolumesOfThePlan(t *testing.T) {
	require.JSONEq(t, `{"apiVersion":"longhorn.io/v1beta2","kind":"DataEngineUpgradeManager","metadata":{"generateName":"upgrade-"},
		"spec":{"dataEngine":"v2","nodes":["node-2","node-1"],"skipVolumes":["vol-9"]}}`,
		Wish{Nodes: []string{"node-2", "node-1"}, Skip: []string{"vol-9"}}.manifest())
	require.Contains(t, PlanOf(ready(), Wish{Nodes: []string{"node-2"}}).nextSteps()[0], `"nodes":["node-2"]`)
}

func TestWhatMustHappenBeforeAnUpgradeComesFirst(t *testing.T) {
	running := func(w *world.World) {
		w.Upgrades.Items = []v1beta2.DataEngineUpgradeManager{*inState(v1beta2.UpgradeStateCompleted, false, false), *inState("", false, false)}
		w.Upgrades.Items[0].Name = "upgrade-0"
	}
	blocked := func(w *world.World) {
		carrying(w)
		w.Volumes.Items[0].Status.Robustness = v1beta2.VolumeRobustnessDegraded
	}
	all := func(changes ...func(*world.World)) func(*world.World) {
		return func(w *world.World) {
			for _, change := range changes {
				change(w)
			}
		}
	}
	for name, test := range map[string]struct {
		change        func(*world.World)
		summary, next string
		blocked       bool
	}{
		"the setting names no image": {all(running, blocked, func(w *world.World) { w.Settings.Items[1].Value = "" }),
			"The setting default-instance-manager-image names no image: an upgrade would wait for it.",
			"kubectl -n longhorn-system edit settings.longhorn.io default-instance-manager-image", true},
		"there is no setting": {func(w *world.World) { w.Settings.Items = nil },
			"The setting default-instance-manager-image names no image: an upgrade would wait for it.",
			"kubectl -n longhorn-system edit settings.longhorn.io default-instance-manager-image", true},
		"another upgrade has not ended": {all(running, blocked),
			"DataEngineUpgradeManager upgrade-1 is undefined: another upgrade waits until it ends.",
			"kubectl drover upgrade watch upgrade-1 -n longhorn-system", true},
		"a volume is degraded": {blocked, "Upgrading to new is blocked: 2 Degraded.", "kubectl drover upgrade plan -n longhorn-system", true},
		"all nodes are upgraded": {all(blocked, done), "All nodes run new: there is nothing to upgrade.",
			"kubectl drover status -n longhorn-system", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := ready()
			test.change(w)
			plan := PlanOf(w, Wish{})
			require.Equal(t, test.summary, plan.summary(terminal.New(&bytes.Buffer{})))
			require.Equal(t, []string{test.next}, plan.nextSteps())
			require.Equal(t, test.blocked, plan.Blocked())
		})
	}
}

func TestTheRowOfANodeShowsWhetherItsUpgradeCanBegin(t *testing.T) {
	row := func(n PlanNode) []terminal.Cell { return (Plan{Nodes: []PlanNode{n}}).rows()[0][4:] }
	require.Equal(t, []terminal.Cell{{Text: "can begin", Style: terminal.Good}, {Text: "old"}}, row(PlanNode{Image: "old"}))
	require.Equal(t, []terminal.Cell{{Text: "done", Style: terminal.Dim}, {Text: "new"}}, row(PlanNode{Image: "new", Upgraded: true}))
	require.Equal(t, []terminal.Cell{{Text: "blocked (2)", Style: terminal.Warning}, {Text: "no instance manager runs"}},
		row(PlanNode{Blockers: 2}))
}

// A name that is mistyped is no node without v2, of which nothing would be left to do.
func TestANodeThatDoesNotExistIsNotUpgraded(t *testing.T) {
	plan := PlanOf(ready(), Wish{Nodes: []string{"node-9"}})
	require.False(t, plan.Nodes[0].Upgraded)
	require.Equal(t, preflight.UnknownNode, plan.Blockers[0].Kind)
	require.Equal(t, "kubectl -n longhorn-system get lhn", plan.Blockers[0].Command)
}

func TestABlockerOfANodeLeadsToTheNode(t *testing.T) {
	w := ready()
	w.Nodes.Items[0].Spec.Disks = map[string]v1beta2.DiskSpec{"block-1": {DiskType: v1beta2.DiskTypeBlock}}
	w.Nodes.Items[0].Status.DiskStatus = map[string]v1beta2.DiskStatus{"block-1": {DiskUUID: "uuid-1"}}
	plan := PlanOf(w, Wish{})
	require.Len(t, plan.Blockers, 1)
	require.Equal(t, preflight.DiskNotReady, plan.Blockers[0].Kind)
	require.Equal(t, "kubectl drover tree node/node-1 -n longhorn-system", plan.Blockers[0].Command)
}

func TestBlockersStandTogetherByNodeAndVolumeWithEachCommandOnce(t *testing.T) {
	w := ready()
	plan := Plan{Image: "new", world: w, Unknown: []string{"volume vol-1"}, Unchecked: []string{"A sentence."}, Blockers: []Blocker{
		{Node: "node-1", Kind: preflight.NodeNotReady, Message: "It is not ready.", Command: "show managers"},
		{Node: "node-1", Volume: "vol-1", Kind: preflight.Degraded, Message: "It is degraded.", Command: "why vol-1"},
		{Node: "node-1", Volume: "vol-1", Kind: preflight.Rebuilding, Message: "It is rebuilt.", Command: "why vol-1"},
		{Node: "node-1", Volume: "vol-1", Kind: preflight.Purging, Message: "It is purged.", Command: "snapshots vol-1"},
		{Node: "node-1", Volume: "vol-2", Kind: preflight.Degraded, Message: "It is degraded."},
		{Node: "node-2", Volume: "vol-2", Kind: preflight.Degraded, Message: "It is degraded.", Command: "why vol-2"}}}
	require.Equal(t, `Upgrading to new is blocked: 3 Degraded, 1 NodeNotReady, 1 Rebuilding, 1 RemovingSnapshot.

Stands against it
  node node-1
    NodeNotReady: It is not ready.
      show managers
  node node-1, volume vol-1
    Degraded: It is degraded.
    Rebuilding: It is rebuilt.
    RemovingSnapshot: It is purged.
      why vol-1
      snapshots vol-1
  node node-1, volume vol-2
    Degraded: It is degraded.
  node node-2, volume vol-2
    Degraded: It is degraded.
      why vol-2

Not known at the moment, and waited for
  the instances of volume vol-1; im-monitor reports them once it reads them

Only upgrade-controller checks, once the upgrade began
  A sentence.

Next
  kubectl drover upgrade plan -n longhorn-system
      docs/upgrading.md
`, text(plan))
}
