package status

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/kubectl-drover/internal/worldtest"
	"drover.dev/drover/shared/api/v1beta2"
)

var noon, named = worldtest.Noon, worldtest.Named

func conditionOf(kind string, status v1beta2.ConditionStatus, reason string) []v1beta2.Condition {
	return []v1beta2.Condition{{Type: kind, Status: status, Reason: reason}}
}

func not(kind, reason string) []v1beta2.Condition {
	return conditionOf(kind, v1beta2.ConditionFalse, reason)
}

// led is a world in which every controller leads, and nothing else is.
func led() *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: noon}
	for _, c := range finding.Controllers(w) {
		w.Leases.Items = append(w.Leases.Items, worldtest.Lease(finding.LeaseOf(c.Name), "pod-1_uid_random", 4*time.Second))
	}
	return w
}

// screen is what a person sees, by lines, with one space where columns are apart.
func screen(r Report) []string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return lines
}

func TestTheFirstLineSaysWhetherAnythingWaitsForAPerson(t *testing.T) {
	failing := func(n int) func(*world.World) {
		return func(w *world.World) {
			for i := range n {
				w.Settings.Items = append(w.Settings.Items, v1beta2.Setting{ObjectMeta: named(string(rune('a' + i))),
					Status: v1beta2.SettingStatus{Conditions: not(v1beta2.SettingApplied, "InvalidValue")}})
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*world.World)
		want   []string
	}{
		"nothing": {func(*world.World) {}, []string{"Drover in namespace longhorn-system is well: nothing waits for a person.", ""}},
		"what continues by itself is nothing": {func(w *world.World) {
			w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("vol-1"), Status: v1beta2.VolumeStatus{
				Conditions: not(v1beta2.VolumeAttached, v1beta2.ReasonWaitingForEngine)}}}
		}, []string{"Drover in namespace longhorn-system is well: nothing waits for a person.", ""}},
		"one warning": {failing(1), []string{
			"Drover in namespace longhorn-system: 1 warning. All of them: kubectl drover doctor -n longhorn-system",
			"Setting a: InvalidValue", ""}},
		"more than there is room for, the worst first": {func(w *world.World) {
			failing(6)(w)
			w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("vol-1"), Status: v1beta2.VolumeStatus{
				Conditions: not(v1beta2.VolumeAttached, v1beta2.ReasonFaulted)}}}
			w.Leases.Items = w.Leases.Items[:4]
		}, []string{
			"Drover in namespace longhorn-system: 1 critical, 6 warnings, 1 info. All of them: kubectl drover doctor -n longhorn-system",
			"Volume vol-1: Faulted", "Setting a: InvalidValue", "Setting b: InvalidValue", "Setting c: InvalidValue",
			"Setting d: InvalidValue", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := led()
			test.change(w)
			require.Equal(t, test.want, screen(Of(w))[:len(test.want)])
		})
	}
}

func TestTheFirstLineHasTheColourOfTheWorst(t *testing.T) {
	w := led()
	require.Equal(t, finding.Well, Of(w).Severity)
	w.Leases.Items = w.Leases.Items[:4]
	w.Deployments.Items = []appsv1.Deployment{{ObjectMeta: named("upgrade-controller")}}
	r := Of(w)
	require.Equal(t, finding.Critical, r.Severity)
	require.Equal(t, map[string]int{"critical": 1}, r.Findings)
}

func TestTheRowOfAControllerShowsWhatItLacks(t *testing.T) {
	row := func(w *world.World) []terminal.Cell { return Of(w).controllers()[0] }
	w := led()
	require.Equal(t, []terminal.Cell{{Text: "attach-controller"}, {Text: "-"}, {Text: "-"}, {Text: "-"}, {Text: "pod-1"},
		{Text: "4s ago"}}, row(w), "it runs outside pods")

	w.Deployments.Items = []appsv1.Deployment{{ObjectMeta: named("attach-controller"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 2}}}
	require.Equal(t, terminal.Cell{Text: "2/2"}, row(w)[3])
	w.Deployments.Items[0].Status.ReadyReplicas = 1
	require.Equal(t, terminal.Cell{Text: "1/2", Style: terminal.Warning}, row(w)[3])

	w.Leases.Items[0].Spec.RenewTime = &metav1.MicroTime{Time: noon.Add(-time.Hour)}
	require.Equal(t, []terminal.Cell{{Text: "none", Style: terminal.Bad}, {Text: "1h ago"}}, row(w)[4:])
}

// A controller whose definitions are of a contract that it does not know does not run with them.
func TestDefinitionsThatAControllerDoesNotKnowStandOut(t *testing.T) {
	w := led()
	define := func(name, contract string) {
		w.Definitions.Items = append(w.Definitions.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name,
			Labels: map[string]string{v1beta2.LabelContract: contract}}})
	}
	define("volumes.longhorn.io", v1beta2.ContractVersion)
	define("engines.longhorn.io", v1beta2.ContractVersion)
	define("systembackups.longhorn.io", "") // a kind that Drover does not know
	w.Leases.Items[0].Labels = map[string]string{"drover.dev/contracts": "0_" + v1beta2.ContractVersion}
	w.Leases.Items[1].Labels = map[string]string{"drover.dev/contracts": "0"}
	rows := Of(w).controllers()
	require.Equal(t, terminal.Cell{Text: "0, " + v1beta2.ContractVersion}, rows[0][2])
	require.Equal(t, terminal.Cell{Text: "0", Style: terminal.Warning}, rows[1][2])
	require.Equal(t, terminal.Cell{Text: "-"}, rows[2][2], "what it knows it did not write")
	require.Equal(t, [][]terminal.Cell{{{Text: "definitions (2)"}, {Text: "-"}, {Text: v1beta2.ContractVersion}}}, rows[5:])

	define("replicas.longhorn.io", "")
	rows = Of(w).controllers()
	require.Equal(t, terminal.Warning, rows[0][2].Style)
	require.Equal(t, []terminal.Cell{{Text: "definitions (1)"}, {Text: "-"}, {Text: "-", Style: terminal.Warning}}, rows[5])
}

func TestTheRowsOfANodeShowWhetherReplicasCanBePlacedThere(t *testing.T) {
	ready := conditionOf(v1beta2.NodeReady, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	for name, test := range map[string]struct {
		node v1beta2.Node
		want terminal.Cell
	}{
		"ready": {v1beta2.Node{Spec: v1beta2.NodeSpec{AllowScheduling: true}, Status: v1beta2.NodeStatus{Conditions: ready}},
			terminal.Cell{Text: "ready", Style: terminal.Good}},
		"a person turned it off": {v1beta2.Node{Status: v1beta2.NodeStatus{Conditions: ready}},
			terminal.Cell{Text: "ready, no new replicas", Style: terminal.Warning}},
		"cordoned": {v1beta2.Node{Spec: v1beta2.NodeSpec{AllowScheduling: true}, Status: v1beta2.NodeStatus{Conditions: append(
			not(v1beta2.NodeSchedulable, v1beta2.ReasonKubernetesNodeCordoned), ready...)}},
			terminal.Cell{Text: "ready, no new replicas", Style: terminal.Warning}},
		"not ready": {v1beta2.Node{Status: v1beta2.NodeStatus{Conditions: not(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone)}},
			terminal.Cell{Text: "KubernetesNodeGone", Style: terminal.Bad}},
		"without conditions": {v1beta2.Node{}, terminal.Cell{Text: "Unknown", Style: terminal.Bad}},
	} {
		t.Run(name, func(t *testing.T) {
			w := led()
			test.node.ObjectMeta = named("node-1")
			w.Nodes.Items = []v1beta2.Node{test.node}
			w.Volumes.Items = []v1beta2.Volume{{Status: v1beta2.VolumeStatus{CurrentNodeID: "node-1"}},
				{Status: v1beta2.VolumeStatus{CurrentNodeID: "node-2"}}, {}}
			require.Equal(t, [][]terminal.Cell{{{Text: "node-1"}, test.want, {Text: "1"}}}, Of(w).nodes())
		})
	}
}

func TestTheDisksOfANodeStandBelowEachOther(t *testing.T) {
	w := led()
	w.Nodes.Items = []v1beta2.Node{{ObjectMeta: named("node-1"), Status: v1beta2.NodeStatus{DiskStatus: map[string]v1beta2.DiskStatus{
		"block-2": {DiskType: "block", Conditions: not(v1beta2.DiskReady, v1beta2.ReasonNotInitialized)},
		"block-1": {DiskType: "block", Conditions: conditionOf(v1beta2.DiskReady, v1beta2.ConditionTrue, "DiskReady"),
			StorageAvailable: 5 << 30, StorageScheduled: 20 << 30, StorageMaximum: 10 << 30}}}}}
	require.Contains(t, strings.Join(screen(Of(w)), "\n"), "NODE READY VOLUMES DISK TYPE STATE FREE PROMISED SIZE\n"+
		"node-1 Unknown 0 block-1 block ready 5 GiB 20 GiB 10 GiB\n"+
		"block-2 block NotInitialized 0 GiB 0 GiB 0 GiB\n")
}

// During an upgrade several images run, and what is left to do is what is not of the wanted one.
func TestTheRowsOfADataEngineShowWhichImagesRun(t *testing.T) {
	manager := func(engine, image, state string) v1beta2.InstanceManager {
		return v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{DataEngine: engine, Image: image},
			Status: v1beta2.InstanceManagerStatus{CurrentState: state}}
	}
	w := led()
	w.InstanceManagers.Items = []v1beta2.InstanceManager{manager("v2", "im:2", v1beta2.InstanceManagerStateRunning),
		manager("v2", "im:1", v1beta2.InstanceManagerStateRunning), manager("v2", "im:1", v1beta2.InstanceManagerStateError)}
	w.Volumes.Items = []v1beta2.Volume{{}, {Spec: v1beta2.VolumeSpec{DataEngine: "v1"}}, {Spec: v1beta2.VolumeSpec{DataEngine: "v2"}}}
	row := func(engine, volumes string, image terminal.Cell) []terminal.Cell {
		return []terminal.Cell{{Text: engine}, {Text: volumes}, image}
	}
	one, two := terminal.Cell{Text: "1/2 running", Style: terminal.Warning}, terminal.Cell{Text: "1/1 running"}
	none := row("v1", "2", terminal.Cell{Text: "no instance manager", Style: terminal.Warning})
	require.Equal(t, [][]terminal.Cell{none, append(row("v2", "1", terminal.Cell{Text: "im:1"}), one),
		append(row("", "", terminal.Cell{Text: "im:2"}), two)}, Of(w).engines(), "which image is wanted is not known")

	w.Settings.Items = []v1beta2.Setting{{ObjectMeta: named("other"), Value: "x"}, {ObjectMeta: named("default-instance-manager-image"),
		Value: "im:2"}}
	require.Equal(t, [][]terminal.Cell{none,
		append(row("v2", "1", terminal.Cell{Text: "im:1 (wanted: im:2)", Style: terminal.Warning}), one),
		append(row("", "", terminal.Cell{Text: "im:2"}), two)}, Of(w).engines())
}

func TestWhatThereIsIsCountedByHowItIs(t *testing.T) {
	w := led()
	for _, word := range []string{"volumes", "snapshots", "backups", "orphans"} {
		require.Contains(t, screen(Of(w)), word+" 0")
	}
	w.BackupTargets.Items = []v1beta2.BackupTarget{{ObjectMeta: named("default"),
		Status: v1beta2.BackupTargetStatus{Conditions: not(v1beta2.BackupTargetAvailable, "Refused")}}}
	require.Contains(t, screen(Of(w)), "backups 0; target default not available", "it shows before the first backup is made")
	w.Volumes.Items = []v1beta2.Volume{{Spec: v1beta2.VolumeSpec{Size: 1 << 30}}, {Spec: v1beta2.VolumeSpec{Size: 2 << 30},
		Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, Robustness: v1beta2.VolumeRobustnessHealthy}}}
	w.Snapshots.Items = []v1beta2.Snapshot{
		{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}}, Status: v1beta2.SnapshotStatus{ReadyToUse: true}},
		{Status: v1beta2.SnapshotStatus{ReadyToUse: true}}, {Status: v1beta2.SnapshotStatus{ReadyToUse: true}},
		{Status: v1beta2.SnapshotStatus{Conditions: not(v1beta2.SnapshotReady, v1beta2.ReasonLost)}},
		{Status: v1beta2.SnapshotStatus{Conditions: not(v1beta2.SnapshotReady, v1beta2.ReasonWaitingForAttach)}}}
	w.Backups.Items = []v1beta2.Backup{{}, {Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted}}}
	w.BackupTargets.Items = []v1beta2.BackupTarget{{ObjectMeta: named("default")}, {ObjectMeta: named("far"),
		Status: v1beta2.BackupTargetStatus{Conditions: not(v1beta2.BackupTargetAvailable, "Refused")}}}
	orphan := func(conditions ...[]v1beta2.Condition) v1beta2.Orphan {
		var o v1beta2.Orphan
		for _, c := range conditions {
			o.Status.Conditions = append(o.Status.Conditions, c...)
		}
		return o
	}
	w.Orphans.Items = []v1beta2.Orphan{
		orphan(conditionOf(v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonNoOwnerCR),
			not(v1beta2.OrphanCleanupApproved, v1beta2.ReasonGracePeriod), not(v1beta2.OrphanCleanupFailed, "")),
		orphan(conditionOf(v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonNoOwnerCR),
			not(v1beta2.OrphanCleanupApproved, ""), conditionOf(v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, "Unreachable")),
		orphan(not(v1beta2.OrphanOrphaned, ""))}
	lines := screen(Of(w))
	require.Contains(t, lines, "volumes 2: 3 GiB; 1 attached, 1 creating; 1 healthy, 1 unknown")
	require.Contains(t, lines, "snapshots 5: 2 ready, 1 waiting, 1 failed, 1 deleting")
	require.Contains(t, lines, "backups 2: 1 Completed, 1 Waiting; target default, target far not available")
	require.Contains(t, lines, "orphans 3: 2 NoOwnerCR; 1 GracePeriod; 1 failing")
}

func TestUpgradesAreShownUntilTheyAreCompleted(t *testing.T) {
	w := led()
	long := strings.Repeat("ä", 201)
	going := v1beta2.DataEngineUpgradeManager{ObjectMeta: named("upgrade-1")}
	going.Status.State, going.Status.Progress, going.Status.UpgradingNode = v1beta2.UpgradeStateUpgrading, "1/3", "node-2"
	going.Status.InstanceManagerImage = "im:2"
	going.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.UpgradeStalled, Reason: "InTime", Message: "Another condition."},
		{Type: v1beta2.UpgradeProgressing, Reason: "UpgradingNode", Message: "Node node-2 is being upgraded."}}
	ended := *going.DeepCopy()
	ended.Name, ended.Status.State, ended.Status.UpgradingNode = "upgrade-0", v1beta2.UpgradeStateCompleted, ""
	failed := *going.DeepCopy()
	failed.Name, failed.Status.State, failed.Status.Step = "upgrade-2", v1beta2.UpgradeStateError, "rebuilding"
	failed.Status.Conditions[1].Reason, failed.Status.Conditions[1].Message = long, ""
	w.Upgrades.Items = []v1beta2.DataEngineUpgradeManager{ended, going, failed}
	lines := screen(Of(w))
	require.Equal(t, []string{"",
		"upgrade upgrade-1 to im:2: upgrading, 1/3, node-2", "UpgradingNode Node node-2 is being upgraded.", "",
		"upgrade upgrade-2 to im:2: error, 1/3, node-2, rebuilding", long[:2*200] + " …"}, lines[len(lines)-6:])
	require.NotContains(t, strings.Join(lines, "\n"), "upgrade-0")

	w.Upgrades.Items = []v1beta2.DataEngineUpgradeManager{{ObjectMeta: named("upgrade-3")}}
	lines = screen(Of(w))
	require.Equal(t, "upgrade upgrade-3: not begun", lines[len(lines)-1])
}

func TestWhatCouldNotBeReadIsNamedAtTheEnd(t *testing.T) {
	w := led()
	w.Unread = []world.Unread{{Resource: "pods", Reason: "Pods are not allowed."}}
	lines := screen(Of(w))
	require.Equal(t, "Not shown: Pods are not allowed.", lines[len(lines)-1])
}

func TestTheNamesAreThoseOfTheControllersAndNodes(t *testing.T) {
	w := led()
	w.Nodes.Items = []v1beta2.Node{{ObjectMeta: named("node-1")}}
	require.Equal(t, []string{"deployment.apps/attach-controller", "deployment.apps/im-monitor", "deployment.apps/orphan-controller",
		"deployment.apps/snapshot-controller", "deployment.apps/upgrade-controller", "node.longhorn.io/node-1"}, Of(w).Names())
}
