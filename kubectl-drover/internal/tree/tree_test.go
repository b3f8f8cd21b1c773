package tree

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/kubectl-drover/internal/worldtest"
	"drover.dev/drover/shared/api/v1beta2"
)

var noon, named = worldtest.Noon, worldtest.Named

func not(kind, reason, message string) []v1beta2.Condition {
	return []v1beta2.Condition{{Type: kind, Status: v1beta2.ConditionFalse, Reason: reason, Message: message,
		LastTransitionTime: "2026-08-01T11:56:00Z"}}
}

// volume is a world with vol-1 alone, attached to node-1.
func volume() *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: noon}
	w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("vol-1"), Spec: v1beta2.VolumeSpec{Size: 2 << 30},
		Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, Robustness: v1beta2.VolumeRobustnessHealthy, CurrentNodeID: "node-1"}}}
	return w
}

// node is a world with node-1 alone, which is ready.
func node() *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: noon}
	w.Nodes.Items = []v1beta2.Node{{ObjectMeta: named("node-1")}}
	return w
}

func lines(r Report) []string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func replica(name, volume, node, state string) v1beta2.Replica {
	return v1beta2.Replica{ObjectMeta: named(name), Spec: v1beta2.ReplicaSpec{VolumeName: volume, NodeID: node},
		Status: v1beta2.ReplicaStatus{CurrentState: state}}
}

func TestTheFirstLineIsTheVolumeWithItsStateAndPlace(t *testing.T) {
	w := volume()
	require.Equal(t, []string{"Volume vol-1 attached, healthy, 2 GiB, v1, on node-1"}, lines(Volume(w)))
	w.Volumes.Items[0].Spec.DataEngine = v1beta2.DataEngineV2
	w.Volumes.Items[0].Status = v1beta2.VolumeStatus{}
	require.Equal(t, []string{"Volume vol-1, 2 GiB, v2"}, lines(Volume(w)), "no controller knows it yet")
}

func TestAllOfAVolumeStandsBelowIt(t *testing.T) {
	w := volume()
	w.Attachments.Items = []v1beta2.VolumeAttachment{{ObjectMeta: named("vol-1"), Spec: v1beta2.VolumeAttachmentSpec{
		AttachmentTickets: map[string]v1beta2.AttachmentTicket{"b": {Type: v1beta2.AttacherCSI, NodeID: "node-2"},
			"a": {Type: v1beta2.AttacherLonghornAPI, NodeID: "node-1"}, "c": {Type: v1beta2.AttacherSnapshot}}},
		Status: v1beta2.VolumeAttachmentStatus{Holder: "a", NodeID: "node-1", AttachmentTicketStatuses: map[string]v1beta2.AttachmentTicketStatus{
			"a": {Satisfied: true}, "b": {Conditions: not(v1beta2.TicketSatisfied, v1beta2.ReasonAttachedElsewhere, "It is on node-1.")}}}}}
	w.Frontends.Items = []v1beta2.EngineFrontend{{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol-1",
		NodeID: "node-1"}, Status: v1beta2.EngineFrontendStatus{CurrentState: "running", Endpoint: "/dev/longhorn/vol-1"}}}
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{VolumeName: "vol-1", NodeID: "node-1"},
		Status: v1beta2.EngineStatus{CurrentState: v1beta2.InstanceStateRunning,
			ReplicaModeMap: map[string]string{"r-1": v1beta2.ReplicaModeRW, "r-2": v1beta2.ReplicaModeWO}}}}
	w.Replicas.Items = []v1beta2.Replica{replica("r-1", "vol-1", "node-1", "running"), replica("r-2", "vol-1", "node-2", "running"),
		replica("r-3", "vol-1", "node-3", "")}
	w.Replicas.Items[0].Spec.HealthyAt = "2026-08-01T10:00:00Z"
	w.Replicas.Items[2].Spec.HealthyAt, w.Replicas.Items[2].Spec.FailedAt = "2026-08-01T10:00:00Z", "2026-08-01T11:00:00Z"
	w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1"), Status: v1beta2.SnapshotStatus{ReadyToUse: true, Size: 1 << 20}}}
	require.Equal(t, []string{
		"Volume vol-1 attached, healthy, 2 GiB, v1, on node-1",
		"├─ VolumeAttachment vol-1, holder a, on node-1",
		"│  ├─ Ticket a satisfied, longhorn-api, on node-1",
		"│  ├─ Ticket b waits, csi-attacher, on node-2",
		"│  │      AttachedElsewhere: It is on node-1. (4m ago)",
		"│  └─ Ticket c waits, snapshot-controller",
		"├─ EngineFrontend ef-1 running, on node-1, /dev/longhorn/vol-1",
		"├─ Engine e-1 running, on node-1",
		"├─ Replica r-1 running, on node-1, RW, healthy",
		"├─ Replica r-2 running, on node-2, WO, not whole yet",
		"├─ Replica r-3 not started, on node-3, failed",
		"│      Failed: The replica on node node-3 lacks data that was written since it failed. (1h ago)",
		"└─ Snapshot snap-1 ready, 1 MiB",
	}, lines(Volume(w)))
	require.Equal(t, []string{"volume.longhorn.io/vol-1", "volumeattachment.longhorn.io/vol-1", "enginefrontend.longhorn.io/ef-1",
		"engine.longhorn.io/e-1", "replica.longhorn.io/r-1", "replica.longhorn.io/r-2", "replica.longhorn.io/r-3",
		"snapshot.longhorn.io/snap-1"}, Volume(w).Names(), "a ticket is no object that kubectl knows")
}

func TestAVolumeThatNoTicketHoldsShowsThat(t *testing.T) {
	w := volume()
	w.Attachments.Items = []v1beta2.VolumeAttachment{{ObjectMeta: named("vol-1")}}
	require.Equal(t, "└─ VolumeAttachment vol-1, holder none", lines(Volume(w))[1])
}

// The modes of an engine that ended are of the past, and a replica may have failed since.
func TestTheModeOfAReplicaIsThatOfAnEngineThatRuns(t *testing.T) {
	w := volume()
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{VolumeName: "vol-1"},
		Status: v1beta2.EngineStatus{CurrentState: v1beta2.InstanceStateError, ReplicaModeMap: map[string]string{"r-1": "RW"}}}}
	w.Replicas.Items = []v1beta2.Replica{replica("r-1", "vol-1", "node-1", "running")}
	require.Equal(t, "└─ Replica r-1 running, on node-1, not whole yet", lines(Volume(w))[2])
}

func TestAReplicaIsOnTheDiskOfItsUUID(t *testing.T) {
	w := volume()
	w.Nodes.Items = []v1beta2.Node{{ObjectMeta: named("node-1"), Status: v1beta2.NodeStatus{DiskStatus: map[string]v1beta2.DiskStatus{
		"block-0": {}, "block-1": {DiskUUID: "uuid-1"}, "block-2": {DiskUUID: "uuid-2"}}}}}
	for uuid, want := range map[string]string{
		"uuid-2": "└─ Replica r-1 running, on node-1, disk block-2, not whole yet",
		"uuid-9": "└─ Replica r-1 running, on node-1, not whole yet",
		"":       "└─ Replica r-1 running, on node-1, not whole yet", // block-0 has no UUID either
	} {
		w.Replicas.Items = []v1beta2.Replica{replica("r-1", "vol-1", "node-1", "running")}
		w.Replicas.Items[0].Spec.DiskID = uuid
		require.Equal(t, want, lines(Volume(w))[1], uuid)
	}
}

func TestASnapshotOrBackupShowsHowFarItIs(t *testing.T) {
	going := &metav1.Time{Time: noon}
	for want, change := range map[string]func(*world.World){
		"└─ Snapshot snap-1 waits": func(w *world.World) { w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1")}} },
		"└─ Snapshot snap-1 deleting, 4 KiB": func(w *world.World) {
			w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: metav1.ObjectMeta{Name: "snap-1", DeletionTimestamp: going},
				Status: v1beta2.SnapshotStatus{ReadyToUse: true, Size: 4096}}}
		},
		"└─ Backup b-1 waits": func(w *world.World) { w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b-1")}} },
		"└─ Backup b-1 InProgress, 40 %": func(w *world.World) {
			w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{State: v1beta2.BackupInProgress,
				Progress: 40, Size: "not known"}}}
		},
		"└─ Backup b-1 Completed, 1 MiB": func(w *world.World) {
			w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted,
				Progress: 100, Size: "1048576"}}}
		},
	} {
		w := volume()
		change(w)
		require.Equal(t, want, lines(Volume(w))[1])
	}
	w := volume()
	w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{State: v1beta2.BackupError,
		Error: "no space"}}}
	require.Equal(t, []string{"└─ Backup b-1 Error", "       BackupError: The backup failed: no space"}, lines(Volume(w))[1:])
}

// What is known about an object stands between it and what belongs to it.
func TestAFindingStandsBelowItsObject(t *testing.T) {
	w := volume()
	w.Volumes.Items[0].Status.Conditions = not(v1beta2.VolumeAttached, v1beta2.ReasonInstanceUnknown, "")
	require.Equal(t, []string{"Volume vol-1 attached, healthy, 2 GiB, v1, on node-1", "    InstanceUnknown (4m ago)"}, lines(Volume(w)))
	w.Volumes.Items[0].Status.Conditions[0].LastTransitionTime = ""
	w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1")}}
	require.Equal(t, []string{"│   InstanceUnknown", "└─ Snapshot snap-1 waits"}, lines(Volume(w))[1:])
}

func TestWhatCouldNotBeReadIsNamedAtTheEnd(t *testing.T) {
	w := volume()
	w.Unread = []world.Unread{{Resource: "nodes.longhorn.io", Reason: "Nodes are not allowed."}}
	require.Equal(t, "Not shown: Nodes are not allowed.", lines(Volume(w))[1])
	of := node()
	of.Unread = w.Unread
	require.Equal(t, []string{"Node node-1 ready", "Not shown: Nodes are not allowed."}, lines(Node(of, "node-1")))
}

// A node that is cordoned is ready, and one whose disk fails, too: neither takes what runs there away.
func TestANodeIsNotReadyWhereItWaitsForAPerson(t *testing.T) {
	w := node()
	w.Nodes.Items[0].Status.Conditions = not(v1beta2.NodeSchedulable, v1beta2.ReasonKubernetesNodeCordoned, "It is cordoned.")
	require.Equal(t, []string{"Node node-1 ready", "    KubernetesNodeCordoned: It is cordoned. (4m ago)"}, lines(Node(w, "node-1")))
	w.Nodes.Items[0].Status.Conditions = not(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone, "It is gone.")
	require.Equal(t, []string{"Node node-1 not ready", "    KubernetesNodeGone: It is gone. (4m ago)"}, lines(Node(w, "node-1")))
}

func TestAllOfANodeStandsBelowIt(t *testing.T) {
	w := node()
	w.Nodes.Items[0].Status.DiskStatus = map[string]v1beta2.DiskStatus{
		"block-1": {DiskType: "block", StorageAvailable: 5 << 30, StorageScheduled: 20 << 30, StorageMaximum: 10 << 30,
			Conditions: not(v1beta2.DiskReady, v1beta2.ReasonNotInitialized, "It is new.")}}
	w.NodeUpgrades.Items = []v1beta2.NodeDataEngineUpgrade{
		{ObjectMeta: named("upgrade-1-node-1"), Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1"},
			Status: v1beta2.NodeDataEngineUpgradeStatus{State: v1beta2.UpgradeStateUpgrading, Progress: "1/2"}},
		{ObjectMeta: named("upgrade-1-node-2"), Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-2"}}}
	w.InstanceManagers.Items = []v1beta2.InstanceManager{
		{ObjectMeta: named("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV2, Image: "im:2"},
			Status: v1beta2.InstanceManagerStatus{CurrentState: "running"}},
		{ObjectMeta: named("im-2"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-2"}},
		{ObjectMeta: named("im-3"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}}}
	w.Frontends.Items = []v1beta2.EngineFrontend{{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{NodeID: "node-1"},
		Status: v1beta2.EngineFrontendStatus{CurrentState: "running", InstanceManagerName: "im-1"}}}
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{NodeID: "node-1"},
		Status: v1beta2.EngineStatus{CurrentState: "running", InstanceManagerName: "im-1"}}}
	w.Replicas.Items = []v1beta2.Replica{replica("r-1", "vol-1", "node-1", "running"), replica("r-2", "vol-2", "node-1", ""),
		replica("r-3", "vol-1", "node-2", "running")}
	w.Replicas.Items[0].Status.InstanceManagerName = "im-1"
	w.Replicas.Items[2].Status.InstanceManagerName = "im-2"
	w.Orphans.Items = []v1beta2.Orphan{{ObjectMeta: named("orphan-1"), Spec: v1beta2.OrphanSpec{OrphanType: v1beta2.OrphanTypeEngineInstance,
		Parameters: map[string]string{v1beta2.OrphanParameterInstanceName: "vol-9-e-0"}}}}
	require.Equal(t, []string{
		"Node node-1 ready",
		"├─ Disk node-1/block-1 block, 5 GiB free, 20 GiB promised, 10 GiB",
		"│      NotInitialized: It is new. (4m ago)",
		"├─ NodeDataEngineUpgrade upgrade-1-node-1 upgrading, 1/2",
		"├─ InstanceManager im-1 running, v2, im:2",
		"│  ├─ EngineFrontend ef-1 running, on node-1",
		"│  ├─ Engine e-1 running, on node-1",
		"│  └─ Replica r-1 running, on node-1, not whole yet",
		"├─ InstanceManager im-3 not started, v1",
		"├─ Replica r-2 not started, on node-1, not whole yet", // no instance manager runs it
		"└─ Orphan orphan-1 engine-instance, vol-9-e-0",
	}, lines(Node(w, "node-1")))
}

// An engine and a replica may have the same name, and each is below what runs it.
func TestAnInstanceIsFoundByItsKindAndName(t *testing.T) {
	w := node()
	w.InstanceManagers.Items = []v1beta2.InstanceManager{{ObjectMeta: named("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}}}
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("same"), Spec: v1beta2.EngineSpec{NodeID: "node-1"}}}
	w.Replicas.Items = []v1beta2.Replica{replica("same", "vol-1", "node-1", "running")}
	w.Replicas.Items[0].Status.InstanceManagerName = "im-1"
	require.Equal(t, []string{"Node node-1 ready", "├─ InstanceManager im-1 not started, v1",
		"│  └─ Replica same running, on node-1, not whole yet", "└─ Engine same not started, on node-1"}, lines(Node(w, "node-1")))
}

// below are the lines of an object and of its finding; the tree has nothing else under its root.
func below(r Report) []string { return lines(r)[1:] }

// What waits for a person must be seen wherever its object stands.
func TestEachKindOfObjectShowsItsFindings(t *testing.T) {
	attached := []v1beta2.EngineFrontend{{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol-1"},
		Status: v1beta2.EngineFrontendStatus{CurrentState: "running", SwitchoverPhase: "switching",
			Conditions: not(v1beta2.FrontendSwitchover, v1beta2.ReasonTargetUnknown, "Both are silent.")}}}
	for name, test := range map[string]struct {
		change func(*world.World)
		want   []string
	}{
		"VolumeAttachment": {func(w *world.World) {
			w.Attachments.Items = []v1beta2.VolumeAttachment{{ObjectMeta: named("vol-1"), Status: v1beta2.VolumeAttachmentStatus{
				Conditions: not(v1beta2.VolumeAttachmentReady, v1beta2.ReasonNoCandidate, "No node can take it.")}}}
		}, []string{"└─ VolumeAttachment vol-1, holder none", "       NoCandidate: No node can take it. (4m ago)"}},
		"EngineFrontend": {func(w *world.World) { w.Frontends.Items = attached },
			[]string{"└─ EngineFrontend ef-1 running, switching", "       TargetUnknown: Both are silent. (4m ago)"}},
		"Engine": {func(w *world.World) {
			w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{VolumeName: "vol-1"},
				Status: v1beta2.EngineStatus{CurrentState: "running", Endpoint: "/dev/longhorn/vol-1",
					Conditions: not(v1beta2.EngineOperations, "OperationFailed", "The purge failed.")}}}
		}, []string{"└─ Engine e-1 running, /dev/longhorn/vol-1", "       OperationFailed: The purge failed. (4m ago)"}},
		"Replica": {func(w *world.World) {
			w.Replicas.Items = []v1beta2.Replica{replica("r-1", "vol-1", "", "stopped")}
			w.Replicas.Items[0].Status.Conditions = not(v1beta2.WaitForBackingImage, v1beta2.ReasonGetBackingImageFailed, "There is none.")
		}, []string{"└─ Replica r-1 stopped, not whole yet", "       GetBackingImageFailed: There is none. (4m ago)"}},
		"Snapshot": {func(w *world.World) {
			w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1"), Status: v1beta2.SnapshotStatus{
				Conditions: not(v1beta2.SnapshotReady, v1beta2.ReasonLost, "Its data is lost.")}}}
		}, []string{"└─ Snapshot snap-1 waits", "       Lost: Its data is lost. (4m ago)"}},
		"Backup": {func(w *world.World) {
			w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{
				Conditions: not(v1beta2.BackupApproved, v1beta2.ReasonTargetUnavailable, "No route.")}}}
		}, []string{"└─ Backup b-1 waits", "       TargetUnavailable: No route. (4m ago)"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume()
			test.change(w)
			require.Equal(t, test.want, below(Volume(w)))
		})
	}
	for name, test := range map[string]struct {
		change func(*world.World)
		want   []string
	}{
		"NodeDataEngineUpgrade": {func(w *world.World) {
			w.NodeUpgrades.Items = []v1beta2.NodeDataEngineUpgrade{{ObjectMeta: named("u-1"), Spec: v1beta2.NodeDataEngineUpgradeSpec{
				NodeID: "node-1"}, Status: v1beta2.NodeDataEngineUpgradeStatus{State: "upgrading",
				Conditions: not(v1beta2.UpgradeProgressing, v1beta2.ReasonUpgradeBlocked, "A volume is degraded.")}}}
		}, []string{"└─ NodeDataEngineUpgrade u-1 upgrading", "       UpgradeBlocked: A volume is degraded. (4m ago)"}},
		"InstanceManager": {func(w *world.World) {
			w.InstanceManagers.Items = []v1beta2.InstanceManager{{ObjectMeta: named("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"},
				Status: v1beta2.InstanceManagerStatus{CurrentState: "running",
					Conditions: not(v1beta2.InstanceManagerReachable, v1beta2.ReasonNotAnswering, "It is silent.")}}}
		}, []string{"└─ InstanceManager im-1 running, v1", "       NotAnswering: It is silent. (4m ago)"}},
		"Orphan": {func(w *world.World) {
			w.Orphans.Items = []v1beta2.Orphan{{ObjectMeta: named("o-1"), Spec: v1beta2.OrphanSpec{OrphanType: v1beta2.OrphanTypeReplicaData,
				Parameters: map[string]string{v1beta2.OrphanParameterDataName: "vol-9-abc"}}, Status: v1beta2.OrphanStatus{
				Conditions: not(v1beta2.OrphanCleanupApproved, "LastCopy", "No other copy exists.")}}}
		}, []string{"└─ Orphan o-1 " + v1beta2.OrphanTypeReplicaData + ", vol-9-abc", "       LastCopy: No other copy exists. (4m ago)"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := node()
			test.change(w)
			require.Equal(t, test.want, below(Node(w, "node-1")))
		})
	}
}

// A world may have read more than is shown: what is of another volume or node would mislead.
func TestOnlyTheInstancesOfTheVolumeOrNodeAreShown(t *testing.T) {
	fill := func(w *world.World, volume, node string) {
		w.Frontends.Items = []v1beta2.EngineFrontend{{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{VolumeName: volume,
			NodeID: node}}}
		w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{VolumeName: volume, NodeID: node}}}
		w.Replicas.Items = []v1beta2.Replica{replica("r-1", volume, node, "")}
	}
	of := volume()
	fill(of, "vol-2", "node-1")
	require.Empty(t, below(Volume(of)))
	fill(of, "vol-1", "node-2")
	require.Equal(t, []string{"├─ EngineFrontend ef-1 not started, on node-2", "├─ Engine e-1 not started, on node-2",
		"└─ Replica r-1 not started, on node-2, not whole yet"}, below(Volume(of)))
	on := node()
	fill(on, "vol-1", "node-2")
	require.Empty(t, below(Node(on, "node-1")))
	fill(on, "vol-2", "node-1")
	require.Len(t, below(Node(on, "node-1")), 3)
}

func TestEachInstanceIsBelowTheInstanceManagerOfItsOwnStatus(t *testing.T) {
	w := node()
	w.InstanceManagers.Items = []v1beta2.InstanceManager{{ObjectMeta: named("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}},
		{ObjectMeta: named("im-2"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}}}
	for _, im := range []string{"1", "2"} {
		w.Frontends.Items = append(w.Frontends.Items, v1beta2.EngineFrontend{ObjectMeta: named("ef-" + im),
			Spec: v1beta2.EngineFrontendSpec{NodeID: "node-1"}, Status: v1beta2.EngineFrontendStatus{InstanceManagerName: "im-" + im}})
		w.Engines.Items = append(w.Engines.Items, v1beta2.Engine{ObjectMeta: named("e-" + im), Spec: v1beta2.EngineSpec{NodeID: "node-1"},
			Status: v1beta2.EngineStatus{InstanceManagerName: "im-" + im}})
	}
	require.Equal(t, []string{"├─ InstanceManager im-1 not started, v1", "│  ├─ EngineFrontend ef-1 not started, on node-1",
		"│  └─ Engine e-1 not started, on node-1", "└─ InstanceManager im-2 not started, v1",
		"   ├─ EngineFrontend ef-2 not started, on node-1", "   └─ Engine e-2 not started, on node-1"}, below(Node(w, "node-1")))
}

func TestAReplicaThatFailedIsNotHealthyWhateverItWasBefore(t *testing.T) {
	r := replica("r-1", "vol-1", "node-1", "running")
	require.Equal(t, "not whole yet", health(&r))
	r.Spec.HealthyAt = "2026-08-01T10:00:00Z"
	require.Equal(t, "healthy", health(&r))
	r.Spec.FailedAt = "2026-08-01T11:00:00Z"
	require.Equal(t, "failed", health(&r))
	r.Spec.HealthyAt = ""
	require.Equal(t, "failed", health(&r))
}
