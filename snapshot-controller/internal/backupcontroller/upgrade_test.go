package backupcontroller

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

// node creates one that is ready.
func (w *world) node(name string) *v1beta2.Node {
	w.t.Helper()
	n := &v1beta2.Node{ObjectMeta: w.meta(name)}
	w.create(n)
	w.status(n, map[string]any{"conditions": shown(v1beta2.NodeReady, v1beta2.ReasonNodeReady)})
	return n
}

// v2Volume creates a v2 volume that is attached on the first of the nodes and has a replica on each, a snapshot of it, and a Backup of
// that: of vol-2, snap-2 and backup-2.
func (w *world) v2Volume(vol string, nodes ...string) {
	w.t.Helper()
	number := strings.TrimPrefix(vol, "vol")
	v := &v1beta2.Volume{ObjectMeta: w.meta(vol), Spec: v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: len(nodes),
		AccessMode: v1beta2.AccessModeReadWriteOnce, DataEngine: v1beta2.DataEngineV2, NodeID: nodes[0]}}
	w.create(v)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "robustness": v1beta2.VolumeRobustnessHealthy,
		"currentNodeID": nodes[0]})
	w.create(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol), Spec: v1beta2.VolumeAttachmentSpec{Volume: vol}})
	for _, node := range nodes {
		r := &v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-" + node), Spec: v1beta2.ReplicaSpec{VolumeName: vol, NodeID: node}}
		w.create(r)
		w.status(r, map[string]any{"currentState": v1beta2.InstanceStateRunning})
	}
	e := &v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0"), Spec: v1beta2.EngineSpec{VolumeName: vol, NodeID: nodes[0], Active: true}}
	w.create(e)
	w.status(e, map[string]any{"currentState": v1beta2.InstanceStateRunning})
	s := &v1beta2.Snapshot{ObjectMeta: w.meta("snap" + number), Spec: v1beta2.SnapshotSpec{Volume: vol}}
	s.OwnerReferences = []metav1.OwnerReference{v1beta2.OwnedBy(v)}
	w.create(s)
	w.status(s, map[string]any{"conditions": shown(v1beta2.SnapshotReady, v1beta2.ReasonReady)})
	w.create(&v1beta2.Backup{ObjectMeta: w.meta("backup" + number), Spec: v1beta2.BackupSpec{SnapshotName: s.Name}})
}

// approved waits until the Backup has its ticket, plays attach-controller's answer, and waits for the approval.
func (w *world) approved(vol string) {
	w.t.Helper()
	backup := strings.Replace(vol, "vol", "backup", 1)
	w.namedShows(backup, v1beta2.ReasonWaitingForAttach)
	w.grant(vol)
	w.namedShows(backup, v1beta2.ReasonReady)
}

// A Backup that no engine was asked for waits while its volume is in an upgrade, and what ends that is enough to let it go on. Those of
// other volumes are neither held back nor decided on again.
func TestAnUpgradeHoldsBackTheBackupsOfItsVolumes(t *testing.T) {
	w := newWorld(t)
	node2, node3 := w.node("node-2"), w.node("node-3")
	w.node("node-4")
	w.start(cut.Point{}, nil)
	w.v2Volume("vol-2", "node-2", "node-3")
	w.v2Volume("vol-4", "node-4")
	w.approved("vol-2")
	w.approved("vol-4")
	spec := func(obj client.Object, fields map[string]any) {
		t.Helper()
		require.NoError(t, status.MergeSpec(t.Context(), w.admin, obj, fields))
	}
	upgrade := func(n *v1beta2.Node, requested bool) {
		t.Helper()
		spec(n, map[string]any{"upgradeRequested": requested})
	}
	stays := func(reason string) {
		t.Helper()
		require.Never(t, func() bool {
			return conditions.Reason(w.named("backup-2").Status.Conditions, v1beta2.BackupApproved) != reason
		}, 300*time.Millisecond, poll)
	}
	v, e := &v1beta2.Volume{ObjectMeta: w.meta("vol-2")}, &v1beta2.Engine{ObjectMeta: w.meta("vol-2-e-0")}

	upgrade(node2, true) // approved, and not begun
	w.namedShows("backup-2", v1beta2.ReasonUpgrading)
	spec(v, map[string]any{"targetNodeID": "node-3"})
	spec(e, map[string]any{"nodeID": "node-3"})
	require.Eventually(t, func() bool {
		return strings.Contains(w.named("backup-2").Status.Conditions[0].Message, "its target is relocated to node node-3")
	}, patience, poll)
	upgrade(node2, false)
	stays(v1beta2.ReasonUpgrading)
	spec(e, map[string]any{"nodeID": "node-2"})
	spec(v, map[string]any{"targetNodeID": ""})
	w.approved("vol-2")

	upgrade(node3, true) // where one of its replicas is
	w.namedShows("backup-2", v1beta2.ReasonUpgrading)
	r := &v1beta2.Replica{ObjectMeta: w.meta("vol-2-r-node-3")}
	spec(r, map[string]any{"failedAt": "2026-08-01T12:00:00Z"})
	stays(v1beta2.ReasonUpgrading)
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateStopped})
	w.approved("vol-2")

	// A node that is not ready is no node to attach to before, meanwhile and afterwards: only the upgrade is news.
	w.status(node2, map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.NodeReady,
		Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonNodeNotReady}})})
	upgrade(node2, true)
	w.namedShows("backup-2", v1beta2.ReasonUpgrading)
	upgrade(node2, false)
	w.approved("vol-2")
	require.Equal(t, v1beta2.ReasonReady, conditions.Reason(w.named("backup-4").Status.Conditions, v1beta2.BackupApproved))

	of := watches{Mapper: kube.Mapper{Reader: w.rt.Client, Namespace: w.namespace}}
	for node, backups := range map[string][]string{"node-2": {"backup-2"}, "node-3": {"backup-2"}, "node-4": {"backup-4"}, "node-1": nil} {
		require.Equal(t, backups, of.onNode(t.Context(), &v1beta2.Node{ObjectMeta: w.meta(node)}), node)
	}
}
