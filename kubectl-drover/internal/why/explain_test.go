package why

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/kubectl-drover/internal/worldtest"
	"drover.dev/drover/shared/api/v1beta2"
)

var noon, named = worldtest.Noon, worldtest.Named

func condition(kind, reason string) []v1beta2.Condition {
	return []v1beta2.Condition{{Type: kind, Status: v1beta2.ConditionFalse, Reason: reason, Message: "A sentence."}}
}

// volume is a world with vol-1, wanted on node-1, and two nodes that are ready.
func volume(attached string) *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: noon}
	w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("vol-1"), Spec: v1beta2.VolumeSpec{NodeID: "node-1", NumberOfReplicas: 2},
		Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttaching, Conditions: condition(v1beta2.VolumeAttached, attached)}}}
	for _, name := range []string{"node-1", "node-2"} {
		w.Nodes.Items = append(w.Nodes.Items, v1beta2.Node{ObjectMeta: named(name)})
		w.InstanceManagers.Items = append(w.InstanceManagers.Items, v1beta2.InstanceManager{ObjectMeta: named("im-" + name),
			Spec: v1beta2.InstanceManagerSpec{NodeID: name}})
	}
	return w
}

func replica(name, node, wanted, state string) v1beta2.Replica {
	return v1beta2.Replica{ObjectMeta: named(name), Spec: v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: node, DesireState: wanted},
		Status: v1beta2.ReplicaStatus{CurrentState: state}}
}

// path returns the objects and reasons of the causes, in the order of the text, each with its depth.
func path(causes []Cause, depth int) []string {
	var out []string
	for _, c := range causes {
		out = append(out, fmt.Sprintf("%d %s: %s", depth, c.Object, c.Reason))
		out = append(out, path(c.Causes, depth+1)...)
	}
	return out
}

func TestChainsEndAtWhatIsToBeMended(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world.World)
		want   []string
		basic  string
	}{
		"a replica waits for its instance manager, which does not answer": {
			change: func(w *world.World) {
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped"), replica("r-2", "node-1", "running",
					"running")}
				w.InstanceManagers.Items[1].Status.Conditions = condition(v1beta2.InstanceManagerReachable, v1beta2.ReasonNotAnswering)
			},
			want:  []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 InstanceManager im-node-2: NotAnswering"},
			basic: "InstanceManager im-node-2: NotAnswering",
		},
		"two replicas of one node that is down: it is explained once, and its instance manager not at all": {
			change: func(w *world.World) {
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "unknown"), replica("r-2", "node-2", "running",
					"unknown")}
				w.Nodes.Items[1].Status.Conditions = condition(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone)
				w.InstanceManagers.Items[1].Status.Conditions = condition(v1beta2.InstanceManagerNodeReady,
					v1beta2.ReasonKubernetesNodeGone)
			},
			want: []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 Node node-2: KubernetesNodeGone",
				"1 Replica r-2: State"},
			basic: "Node node-2: KubernetesNodeGone",
		},
		"a node without an instance manager of the data engine": {
			change: func(w *world.World) {
				w.Volumes.Items[0].Spec.DataEngine = v1beta2.DataEngineV2
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
			},
			want:  []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 Node node-2: NoInstanceManager"},
			basic: "Node node-2: NoInstanceManager",
		},
		"a replica on a disk that is not initialized": {
			change: func(w *world.World) {
				one := replica("r-1", "node-2", "running", "stopped")
				one.Spec.DiskID = "uuid-2"
				w.Replicas.Items = []v1beta2.Replica{one}
				w.Nodes.Items[1].Status.DiskStatus = map[string]v1beta2.DiskStatus{
					"block-1": {DiskUUID: "uuid-1", Conditions: condition(v1beta2.DiskReady, v1beta2.ReasonNoDiskInfo)},
					"block-2": {DiskUUID: "uuid-2", Conditions: condition(v1beta2.DiskReady, v1beta2.ReasonNotInitialized)},
				}
			},
			want:  []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 Disk node-2/block-2: NotInitialized"},
			basic: "Disk node-2/block-2: NotInitialized",
		},
		"the node's upgrade": {
			change: func(w *world.World) {
				w.NodeUpgrades.Items = []v1beta2.NodeDataEngineUpgrade{{ObjectMeta: named("upgrade-node-1"),
					Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1"},
					Status: v1beta2.NodeDataEngineUpgradeStatus{Conditions: condition(v1beta2.UpgradeProgressing,
						v1beta2.ReasonWaitingForRebuild)}}}
			},
			want:  []string{"0 Volume vol-1: WaitingForReplicas", "1 NodeDataEngineUpgrade upgrade-node-1: WaitingForRebuild"},
			basic: "NodeDataEngineUpgrade upgrade-node-1: WaitingForRebuild",
		},
		"a suspended frontend runs, and a stopped engine without a wish is as wanted": {
			change: func(w *world.World) {
				w.Frontends.Items = []v1beta2.EngineFrontend{{ObjectMeta: named("ef-1"),
					Spec:   v1beta2.EngineFrontendSpec{DesireState: "running"},
					Status: v1beta2.EngineFrontendStatus{CurrentState: "suspended"}}}
				w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Status: v1beta2.EngineStatus{CurrentState: "stopped"}}}
			},
			want:  []string{"0 Volume vol-1: WaitingForReplicas"},
			basic: "Volume vol-1: WaitingForReplicas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume(v1beta2.ReasonWaitingForReplicas)
			test.change(w)
			report := Explain(w)
			require.Equal(t, test.want, path(report.Causes, 0))
			require.Contains(t, report.Summary, "It comes down to "+test.basic+".")
		})
	}
}

// What waits for a person comes before what continues by itself, of which no command is named then.
func TestTheNextCommandIsAboutTheMostBasicCause(t *testing.T) {
	w := volume(v1beta2.ReasonWaitingForReplicas)
	w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
	require.Equal(t, []Step{{Command: "kubectl drover tree vol-1 -n longhorn-system", For: "Volume vol-1, WaitingForReplicas",
		Guide: "docs/attaching.md"}}, Explain(w).Next)
	w.InstanceManagers.Items[1].Status.Conditions = condition(v1beta2.InstanceManagerReachable, v1beta2.ReasonNotAnswering)
	report := Explain(w)
	require.Equal(t, []Step{{Command: "kubectl -n longhorn-system logs im-node-2 --tail=50", For: "InstanceManager im-node-2, NotAnswering",
		Guide: "docs/crds/instancemanager.md"}}, report.Next)
	require.Equal(t, finding.Warning, report.Severity)
}

func TestAVolumeWithoutATicketIsSaidToBeWantedByNoOne(t *testing.T) {
	w := volume(v1beta2.ReasonDetached)
	w.Volumes.Items[0].Spec.NodeID, w.Volumes.Items[0].Status.State = "", v1beta2.VolumeStateDetached
	report := Explain(w)
	require.Equal(t, "vol-1 is detached, and no one wants it: it has no ticket.", report.Summary)
	require.Empty(t, report.Causes)
	require.Empty(t, report.Next)
}

// The order in which the API server lists objects is no cause of anything.
func TestTheHolderComesFirstThenByPriority(t *testing.T) {
	w := volume(v1beta2.ReasonAttached)
	w.Attachments.Items = []v1beta2.VolumeAttachment{{ObjectMeta: named("vol-1"), Status: v1beta2.VolumeAttachmentStatus{Holder: "low"},
		Spec: v1beta2.VolumeAttachmentSpec{AttachmentTickets: map[string]v1beta2.AttachmentTicket{
			"low": {Type: v1beta2.AttacherSnapshot}, "b": {Type: v1beta2.AttacherCSI}, "a": {Type: v1beta2.AttacherCSI},
			"person": {Type: v1beta2.AttacherLonghornAPI}}}}}
	for range 20 {
		var ids []string
		for _, ticket := range Explain(w).Tickets {
			ids = append(ids, ticket.ID)
		}
		require.Equal(t, []string{"low", "person", "a", "b"}, ids)
	}
}

func TestTheSameObjectsHaveTheSameExplanation(t *testing.T) {
	w := volume(v1beta2.ReasonWaitingForReplicas)
	for i := range 6 {
		w.Replicas.Items = append(w.Replicas.Items, replica(fmt.Sprintf("r-%d", i), "node-2", "running", "error"))
	}
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"),
		Status: v1beta2.EngineStatus{RebuildStatus: map[string]v1beta2.RebuildStatus{
			"a": {IsRebuilding: true}, "b": {Error: "no space"}, "c": {IsRebuilding: true, Progress: 3}}}}}
	want := Explain(w)
	for range 20 {
		rand.Shuffle(len(w.Nodes.Items), func(i, j int) { w.Nodes.Items[i], w.Nodes.Items[j] = w.Nodes.Items[j], w.Nodes.Items[i] })
		require.Equal(t, want, Explain(w))
	}
}

// A volume that is as wanted does not come down to what goes on by itself.
func TestAVolumeThatIsAsWantedIsNotExplainedByWhatGoesOn(t *testing.T) {
	w := &world.World{Namespace: "longhorn-system"}
	w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}, Spec: v1beta2.VolumeSpec{NodeID: "node-1"},
		Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1", Robustness: v1beta2.VolumeRobustnessHealthy}}}
	w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: metav1.ObjectMeta{Name: "snap-1"}, Status: v1beta2.SnapshotStatus{
		Conditions: []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonMarkedRemoved}}}}}
	report := Explain(w)
	require.Equal(t, "vol-1 is attached to node node-1 as wanted, and healthy.", report.Summary)
	require.Len(t, report.Causes, 1)
	require.Empty(t, report.Next)

	w.Volumes.Items[0].Spec.NodeID = "node-2"
	report = Explain(w)
	require.Contains(t, report.Summary, "It comes down to Snapshot snap-1: MarkedRemoved.")
	require.NotEmpty(t, report.Next)
}
