package finding

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/kubectl-drover/internal/worldtest"
	"drover.dev/drover/shared/api/v1beta2"
)

var noon, named = worldtest.Noon, worldtest.Named

func empty() *world.World { return &world.World{Namespace: "longhorn-system", Now: noon} }

func not(kind, reason string) []v1beta2.Condition {
	return []v1beta2.Condition{{Type: kind, Status: v1beta2.ConditionFalse, Reason: reason, Message: "A sentence.",
		LastTransitionTime: "2026-08-01T11:00:00Z"}}
}

// A command about the wrong volume or node is worse than none.
func TestTheCommandIsAboutTheObjectOrWhatItIsOf(t *testing.T) {
	w := empty()
	const onNode = "kubectl describe nodes node-1"
	const tickets = "kubectl -n longhorn-system describe lhva vol-1"
	for name, test := range map[string]struct {
		found        []Finding
		object, want string
	}{
		"a volume": {Volume(w, &v1beta2.Volume{ObjectMeta: named("vol-1"),
			Status: v1beta2.VolumeStatus{Conditions: not(v1beta2.VolumeFaulted, v1beta2.ReasonFaulted)}}),
			"Volume vol-1", "kubectl drover tree vol-1 -n longhorn-system"},
		"a VolumeAttachment": {Attachment(w, &v1beta2.VolumeAttachment{ObjectMeta: named("va-1"), Spec: v1beta2.VolumeAttachmentSpec{
			Volume: "vol-1"}, Status: v1beta2.VolumeAttachmentStatus{Conditions: not(v1beta2.VolumeAttachmentReady, v1beta2.ReasonBlocked)}}),
			"VolumeAttachment va-1", tickets},
		"an engine": {Engine(w, &v1beta2.Engine{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{NodeID: "node-1"},
			Status: v1beta2.EngineStatus{Conditions: not(v1beta2.InstanceNodeDown, v1beta2.ReasonNodeDown)}}), "Engine e-1", onNode},
		"a frontend's node": {Frontend(w, &v1beta2.EngineFrontend{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{NodeID: "node-1"},
			Status: v1beta2.EngineFrontendStatus{Conditions: not(v1beta2.InstanceNodeDown, v1beta2.ReasonNodeDown)}}),
			"EngineFrontend ef-1", onNode},
		"a frontend's volume": {Frontend(w, &v1beta2.EngineFrontend{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{
			VolumeName: "vol-1"}, Status: v1beta2.EngineFrontendStatus{Conditions: not(v1beta2.FrontendDeviceLost,
			v1beta2.ReasonCreatedAnew)}}), "EngineFrontend ef-1", tickets},
		"a replica's node": {Replica(w, &v1beta2.Replica{ObjectMeta: named("r-1"), Spec: v1beta2.ReplicaSpec{NodeID: "node-1"},
			Status: v1beta2.ReplicaStatus{Conditions: not(v1beta2.InstanceNodeDown, v1beta2.ReasonNodeDown)}}), "Replica r-1", onNode},
		"a replica's volume": {Replica(w, &v1beta2.Replica{ObjectMeta: named("r-1"), Spec: v1beta2.ReplicaSpec{VolumeName: "vol-1"},
			Status: v1beta2.ReplicaStatus{Conditions: not(v1beta2.ReplicaDataRemoved, v1beta2.ReasonMappedByEngine)}}),
			"Replica r-1", tickets},
		"an instance manager": {InstanceManager(w, &v1beta2.InstanceManager{ObjectMeta: named("im-1"),
			Status: v1beta2.InstanceManagerStatus{Conditions: not(v1beta2.InstanceManagerReachable, v1beta2.ReasonNotAnswering)}}),
			"InstanceManager im-1", "kubectl -n longhorn-system logs im-1 --tail=50"},
		"an instance manager's node": {InstanceManager(w, &v1beta2.InstanceManager{ObjectMeta: named("im-1"),
			Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}, Status: v1beta2.InstanceManagerStatus{
				Conditions: not(v1beta2.InstanceManagerNodeReady, v1beta2.ReasonKubernetesNodeGone)}}), "InstanceManager im-1", onNode},
		"an engine image": {EngineImage(w, &v1beta2.EngineImage{ObjectMeta: named("ei-1"),
			Status: v1beta2.EngineImageStatus{Conditions: not(v1beta2.EngineImageReady, v1beta2.ReasonPodsNotReady)}}), "EngineImage ei-1",
			"kubectl -n longhorn-system get pods -o wide -l longhorn.io/engine-image=ei-1"},
		"a node": {Node(w, &v1beta2.Node{ObjectMeta: named("node-1"), Status: v1beta2.NodeStatus{Conditions: not(v1beta2.NodeReady,
			v1beta2.ReasonKubernetesNodeNotReady)}}), "Node node-1", onNode},
		"a disk, which kubectl knows as a part of its node": {DiskOf(w, &v1beta2.Node{ObjectMeta: named("node-1"),
			Status: v1beta2.NodeStatus{DiskStatus: map[string]v1beta2.DiskStatus{"block-1": {Conditions: not(v1beta2.DiskReady,
				v1beta2.ReasonNotInitialized)}}}}, "block-1"),
			"Disk node-1/block-1", "kubectl -n longhorn-system describe lhn node-1"},
		"a snapshot": {Snapshot(w, &v1beta2.Snapshot{ObjectMeta: named("snap-1"), Status: v1beta2.SnapshotStatus{Conditions: not(
			v1beta2.SnapshotReady, v1beta2.ReasonLost)}}), "Snapshot snap-1", "kubectl -n longhorn-system describe lhsnap snap-1"},
		"a snapshot's volume": {Snapshot(w, &v1beta2.Snapshot{ObjectMeta: named("snap-1"), Spec: v1beta2.SnapshotSpec{Volume: "vol-1"},
			Status: v1beta2.SnapshotStatus{Conditions: not(v1beta2.SnapshotReady, v1beta2.ReasonWaitingForAttach)}}),
			"Snapshot snap-1", tickets},
		"a backup's volume": {Backup(w, &v1beta2.Backup{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{VolumeName: "vol-1",
			Conditions: not(v1beta2.BackupApproved, v1beta2.ReasonWaitingForAttach)}}), "Backup b-1", tickets},
		"an orphan": {Orphan(w, &v1beta2.Orphan{ObjectMeta: named("orphan-1"), Status: v1beta2.OrphanStatus{Conditions: not(
			v1beta2.OrphanOrphaned, v1beta2.ReasonNoOwnerCR)}}), "Orphan orphan-1", "kubectl drover orphans explain orphan-1 -n longhorn-system"},
		"an orphan's node": {Orphan(w, &v1beta2.Orphan{ObjectMeta: named("orphan-1"), Spec: v1beta2.OrphanSpec{NodeID: "node-1"},
			Status: v1beta2.OrphanStatus{Conditions: not(v1beta2.OrphanDataCleanable, "NodeUnavailable")}}),
			"Orphan orphan-1", "kubectl drover tree node-1 -n longhorn-system"},
		"a backup target": {BackupTarget(w, &v1beta2.BackupTarget{ObjectMeta: named("default"), Status: v1beta2.BackupTargetStatus{
			Conditions: not(v1beta2.BackupTargetAvailable, "Refused")}}), "BackupTarget default",
			"kubectl -n longhorn-system describe lhbt default"},
		"a recurring job": {RecurringJob(w, &v1beta2.RecurringJob{ObjectMeta: named("daily"), Status: v1beta2.RecurringJobStatus{
			Conditions: not(v1beta2.RecurringJobReady, "BadCron")}}), "RecurringJob daily",
			"kubectl -n longhorn-system edit recurringjobs.longhorn.io daily"},
		"a setting": {Setting(w, &v1beta2.Setting{ObjectMeta: named("log-level"), Status: v1beta2.SettingStatus{
			Conditions: not(v1beta2.SettingApplied, "InvalidValue")}}), "Setting log-level",
			"kubectl -n longhorn-system edit settings.longhorn.io log-level"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, test.found, 1)
			require.Equal(t, test.object, test.found[0].Object.String())
			require.Equal(t, test.want, test.found[0].Command)
			require.Equal(t, "A sentence.", test.found[0].Message)
			require.Equal(t, "2026-08-01T11:00:00Z", test.found[0].Since)
		})
	}
}

// The tickets of one volume are of several nodes, and each is answered for its own.
func TestATicketIsAnsweredForItsOwnNode(t *testing.T) {
	a := &v1beta2.VolumeAttachment{ObjectMeta: named("vol-1"), Spec: v1beta2.VolumeAttachmentSpec{Volume: "vol-1",
		AttachmentTickets: map[string]v1beta2.AttachmentTicket{"a": {NodeID: "node-1"}, "b": {NodeID: "node-2"}}}}
	a.Status.NodeID = "node-1"
	a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"b": {Conditions: not(v1beta2.TicketSatisfied,
		v1beta2.ReasonNodeCordoned)}}
	require.Empty(t, Ticket(empty(), a, "a"), "it was not answered")
	found := Ticket(empty(), a, "b")
	require.Len(t, found, 1)
	require.Equal(t, "ticket b", found[0].Part)
	require.Equal(t, "kubectl uncordon node-2", found[0].Command)
}

func TestOnlyWhatIsNotAsWantedIsListed(t *testing.T) {
	ref := Ref{"Volume", "vol-1"}
	list := func(kind, reason string) []Finding { return Of(ref, not(kind, reason), ofVolume(empty(), "vol-1", "")) }
	require.Empty(t, list(v1beta2.VolumeAttached, v1beta2.ReasonDetached), "it is as wanted")
	require.Empty(t, list("Ripe", "Green"), "the condition is another program's")
	require.Empty(t, list(v1beta2.VolumeAttached, ""), "the condition says nothing")
	found := list(v1beta2.VolumeAttached, "SomethingOfTomorrow")
	require.Len(t, found, 1, "a newer controller has something to say")
	require.Equal(t, Continues, found[0].Severity)
	require.Empty(t, found[0].Command)
}

func TestAnObjectIsNamedAsKubectlNamesIt(t *testing.T) {
	for ref, want := range map[Ref]string{
		{"Volume", "vol-1"}:                            "volume.longhorn.io/vol-1",
		{"Node", "node-1"}:                             "node.longhorn.io/node-1",
		{Disk, "node-1/block-1"}:                       "node.longhorn.io/node-1",
		{"Pod", "im-1"}:                                "pod/im-1",
		{Claim, "shop/data"}:                           "persistentvolumeclaim/data",
		{"Lease", "drover-im-monitor"}:                 "lease.coordination.k8s.io/drover-im-monitor",
		{"Deployment", "im-monitor"}:                   "deployment.apps/im-monitor",
		{"CustomResourceDefinition", "v.longhorn.io"}:  "customresourcedefinition.apiextensions.k8s.io/v.longhorn.io",
		{"NodeDataEngineUpgrade", "upgrade-1-node-1"}:  "nodedataengineupgrade.longhorn.io/upgrade-1-node-1",
		{"DataEngineUpgradeManager", "upgrade-1-long"}: "dataengineupgrademanager.longhorn.io/upgrade-1-long",
	} {
		require.Equal(t, want, ref.Resource())
	}
}

func TestTheWorstOfSeveralFindingsCounts(t *testing.T) {
	require.Equal(t, Well, Worst(nil))
	require.Equal(t, Critical, Worst([]Finding{{Severity: Info}, {Severity: Critical}, {Severity: Warning}}))
}

func TestASeverityIsWrittenByItsName(t *testing.T) {
	for severity, want := range map[Severity]struct {
		name  string
		style terminal.Style
	}{Well: {"well", terminal.Good}, Continues: {"continues", terminal.Plain}, Info: {"info", terminal.Plain},
		Warning: {"warning", terminal.Warning}, Critical: {"critical", terminal.Bad}} {
		text, err := json.Marshal(severity)
		require.NoError(t, err)
		require.Equal(t, `"`+want.name+`"`, string(text))
		require.Equal(t, want.style, Style(severity))
	}
}

// What continues by itself is worth a look once it has lasted; what waits for a person does not become less.
func TestWhatLastsBecomesAWarning(t *testing.T) {
	for name, test := range map[string]struct {
		severity Severity
		since    string
		want     Severity
	}{
		"at the limit":              {Continues, "2026-08-01T11:50:00Z", Continues},
		"beyond it":                 {Continues, "2026-08-01T11:49:59Z", Warning},
		"beyond it, for a person":   {Critical, "2026-08-01T11:00:00Z", Critical},
		"beyond it, for a decision": {Info, "2026-08-01T11:00:00Z", Info},
		"since a time not known":    {Continues, "", Continues},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Lasting(Finding{Severity: test.severity, Since: test.since}, noon, 10*time.Minute).Severity)
		})
	}
}

func TestTheDisksOfANodeAreInOrder(t *testing.T) {
	n := &v1beta2.Node{Status: v1beta2.NodeStatus{DiskStatus: map[string]v1beta2.DiskStatus{"c": {}, "a": {}, "b": {}}}}
	require.Equal(t, []string{"a", "b", "c"}, DisksOf(n))
}

// A backup waits for its snapshot by itself only while that can still become ready.
func TestABackupOfASnapshotThatDoesNotExistWaitsForAPerson(t *testing.T) {
	waiting := func() *v1beta2.Backup {
		return &v1beta2.Backup{ObjectMeta: named("b-1"), Spec: v1beta2.BackupSpec{SnapshotName: "snap-1"},
			Status: v1beta2.BackupStatus{Conditions: not(v1beta2.BackupApproved, v1beta2.ReasonSnapshotNotReady)}}
	}
	for name, test := range map[string]struct {
		change func(*world.World, *v1beta2.Backup)
		want   []Finding
	}{
		"the snapshot does not exist": {func(*world.World, *v1beta2.Backup) {}, []Finding{{Severity: Warning}}},
		"it exists": {func(w *world.World, _ *v1beta2.Backup) {
			w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("other")}, {ObjectMeta: named("snap-1")}}
		}, []Finding{{Severity: Continues}}},
		"it is being deleted": {func(w *world.World, _ *v1beta2.Backup) {
			w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1")}}
			w.Snapshots.Items[0].DeletionTimestamp = &metav1.Time{Time: noon}
		}, []Finding{{Severity: Warning}}},
		"snapshots could not be read": {func(w *world.World, _ *v1beta2.Backup) {
			w.Unread = []world.Unread{{Resource: "snapshots.longhorn.io"}}
		}, []Finding{{Severity: Continues}}},
		"it waits for something else": {func(_ *world.World, b *v1beta2.Backup) {
			b.Status.Conditions = not(v1beta2.BackupApproved, v1beta2.ReasonWaitingForAttach)
		}, []Finding{{Severity: Continues}}},
		"the backup has ended": {func(_ *world.World, b *v1beta2.Backup) { b.Status.State = v1beta2.BackupCompleted }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := empty(), waiting()
			test.change(w, b)
			found := Backup(w, b)
			require.Len(t, found, len(test.want))
			require.Equal(t, Worst(test.want), Worst(found))
		})
	}
}
