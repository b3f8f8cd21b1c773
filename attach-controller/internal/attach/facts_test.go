package attach

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatCountsOfAVolume(t *testing.T) {
	require.Equal(t, Volume{}, VolumeOf(&v1beta2.Volume{}))
	v := &v1beta2.Volume{
		ObjectMeta: metav1.ObjectMeta{Name: "vol-1", DeletionTimestamp: &metav1.Time{Time: now}},
		Spec: v1beta2.VolumeSpec{NodeID: here, MigrationNodeID: there, DisableFrontend: true, LastAttachedBy: "somebody",
			AccessMode: v1beta2.AccessModeReadWriteMany, DataLocality: v1beta2.DataLocalityStrictLocal, DataEngine: v1beta2.DataEngineV2},
		Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: here, CurrentMigrationNodeID: there,
			FrontendDisabled: true, Robustness: v1beta2.VolumeRobustnessFaulted},
	}
	require.Equal(t, Volume{
		Name: "vol-1", Deleting: true, Spec: Spec{here, there, true, "somebody"}, Shared: true, StrictLocal: true, V2: true,
		State: v1beta2.VolumeStateAttached, CurrentNodeID: here, CurrentMigrationNodeID: there, FrontendDisabled: true, Faulted: true,
	}, VolumeOf(v))
	v.Spec.Migratable, v.Spec.TargetNodeID = true, there
	require.True(t, VolumeOf(v).Migratable)
	require.True(t, VolumeOf(v).Relocated, "its target is to leave")
	require.Equal(t, v.Spec.TargetNodeID, VolumeOf(v).TargetNodeID)
	v.Spec.TargetNodeID, v.Status.CurrentTargetNodeID = "", there
	require.True(t, VolumeOf(v).Relocated, "its target is to come back")
	v.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonNodeUpgrading}}
	require.True(t, VolumeOf(v).Upgrading)
	require.False(t, VolumeOf(v).Shared, "pods reach a volume that migrates by its own device")
}

func TestAVolumeIsUnfilledUntilItsDataIsThere(t *testing.T) {
	of := func(spec v1beta2.VolumeSpec, status v1beta2.VolumeStatus) bool {
		return VolumeOf(&v1beta2.Volume{Spec: spec, Status: status}).Unfilled
	}
	fromBackup, clone := v1beta2.VolumeSpec{FromBackup: "nfs://x?backup=b"}, v1beta2.VolumeSpec{DataSource: "vol://source"}
	require.False(t, of(v1beta2.VolumeSpec{}, v1beta2.VolumeStatus{}))
	require.True(t, of(fromBackup, v1beta2.VolumeStatus{}), "before anybody noted that it is to be restored")
	require.True(t, of(fromBackup, v1beta2.VolumeStatus{RestoreInitiated: true, RestoreRequired: true}))
	require.False(t, of(fromBackup, v1beta2.VolumeStatus{RestoreInitiated: true}))
	require.True(t, of(clone, v1beta2.VolumeStatus{}))
	for state, unfilled := range map[string]bool{v1beta2.CloneInitiated: true, v1beta2.CloneCopyCompleted: false,
		v1beta2.CloneCompleted: false, v1beta2.CloneFailed: false} {
		require.Equal(t, unfilled, of(clone, v1beta2.VolumeStatus{CloneStatus: v1beta2.VolumeCloneStatus{State: state}}), state)
	}
	again := v1beta2.VolumeCloneStatus{State: v1beta2.CloneFailed, NextAllowedAttemptAt: "2026-09-01T12:00:00Z"}
	require.True(t, of(clone, v1beta2.VolumeStatus{CloneStatus: again}), "a copy that is tried again")
	for _, spec := range []v1beta2.VolumeSpec{fromBackup, clone} {
		require.False(t, of(spec, v1beta2.VolumeStatus{CurrentImage: "image"}), "a volume that was attached before is not filled any more")
		require.False(t, of(spec, v1beta2.VolumeStatus{LastDegradedAt: "2026-09-01T12:00:00Z"}), "nor is one that was degraded")
	}
}

func TestTheBlockerComesFromTheMachinesCondition(t *testing.T) {
	attached := func(status v1beta2.ConditionStatus, reason, message string) v1beta2.Condition {
		return v1beta2.Condition{Type: v1beta2.VolumeAttached, Status: status, Reason: reason, Message: message}
	}
	full := v1beta2.Condition{Type: v1beta2.VolumeScheduled, Status: v1beta2.ConditionFalse, Reason: "InsufficientStorage",
		Message: "No disk has room."}
	cases := map[string]struct {
		said []v1beta2.Condition
		want string
	}{
		"no condition": {nil, ""},
		"no replica can be used": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse, v1beta2.ReasonNoUsableReplica,
			"None.")}, "None."},
		"no replica can be placed": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse, v1beta2.ReasonNoUsableReplica,
			"None."), full}, "None. No disk has room."},
		"one replica more cannot be placed": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse,
			v1beta2.ReasonWaitingForReplicas, "Soon."), full}, ""},
		"an instance is unknown": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse, v1beta2.ReasonInstanceUnknown,
			"Which?"), full}, "Which?"},
		"a replica does not start": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse,
			v1beta2.ReasonReplicaNotStarting, "r-1.")}, "r-1."},
		"without words the reason must do": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse, v1beta2.ReasonNodeDown, "")},
			v1beta2.ReasonNodeDown},
		"the node is being upgraded": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse, v1beta2.ReasonNodeUpgrading,
			"Later.")}, "Later."},
		"what starts is under way, and blocks nothing": {[]v1beta2.Condition{attached(v1beta2.ConditionFalse,
			v1beta2.ReasonWaitingForEngine, "Soon.")}, ""},
		"what is attached is not blocked": {[]v1beta2.Condition{attached(v1beta2.ConditionTrue, v1beta2.ReasonAttached,
			"There."), full}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, VolumeOf(&v1beta2.Volume{Status: v1beta2.VolumeStatus{Conditions: c.said}}).Blocker)
		})
	}
}

func TestWhatCountsOfANode(t *testing.T) {
	with := func(conditionType string, status v1beta2.ConditionStatus, reason string) *v1beta2.Node {
		return &v1beta2.Node{Status: v1beta2.NodeStatus{Conditions: []v1beta2.Condition{{Type: conditionType, Status: status,
			Reason: reason}}}}
	}
	require.Equal(t, Node{}, NodeOf(with(v1beta2.NodeReady, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)))
	require.Equal(t, Node{Down: true}, NodeOf(with(v1beta2.NodeReady, v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)))
	require.Equal(t, Node{NotReady: true}, NodeOf(with(v1beta2.NodeReady, v1beta2.ConditionFalse, v1beta2.ReasonManagerPodMissing)))
	require.Equal(t, Node{Cordoned: true}, NodeOf(with(v1beta2.NodeSchedulable, v1beta2.ConditionFalse,
		v1beta2.ReasonKubernetesNodeCordoned)))
	require.Equal(t, Node{}, NodeOf(with(v1beta2.NodeSchedulable, v1beta2.ConditionFalse, "Another")),
		"only Kubernetes' own cordon refuses people")
	require.Equal(t, Node{Upgrading: true}, NodeOf(&v1beta2.Node{Spec: v1beta2.NodeSpec{UpgradeRequested: true}}))
}

func TestTwoEnginesAreEqualWhenTheyListTheSameSnapshots(t *testing.T) {
	lists := func(names ...string) uint64 {
		e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{DesireState: v1beta2.InstanceStateRunning},
			Status: v1beta2.EngineStatus{Snapshots: map[string]v1beta2.SnapshotInfo{}}}
		for _, name := range names {
			e.Status.Snapshots[name] = v1beta2.SnapshotInfo{Name: name}
		}
		return EngineOf(e).Snapshots
	}
	require.Equal(t, lists("a", "b"), lists("b", "a"))
	require.Equal(t, lists("a"), lists("a", volumeHead), "the head is no snapshot")
	require.NotEqual(t, lists("a"), lists("b"))
	require.NotEqual(t, lists("a"), lists("a", "b"))
	require.NotEqual(t, lists(), lists("a"))
}

func TestAStrictLocalVolumesDataIsWhereItsGoodReplicaIs(t *testing.T) {
	on := func(node, failed string) v1beta2.Replica {
		return v1beta2.Replica{Spec: v1beta2.ReplicaSpec{NodeID: node, FailedAt: failed}}
	}
	going := on(third, "")
	going.DeletionTimestamp = &metav1.Time{Time: now}
	require.Empty(t, ReplicaNodesOf(nil))
	require.Equal(t, []string{there}, ReplicaNodesOf([]v1beta2.Replica{on(here, "then"), on(there, ""), going, on("", "")}))
	require.Equal(t, []string{here}, ReplicaNodesOf([]v1beta2.Replica{on(here, "then"), going}), "a failed one may be salvaged")
}

// What a migration that was rolled back left behind must not pass for the target of the next one.
func TestDeletedObjectsDoNotCount(t *testing.T) {
	e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{NodeID: there, DesireState: v1beta2.InstanceStateRunning},
		Status: v1beta2.EngineStatus{CurrentState: v1beta2.InstanceStateRunning}}
	f := &v1beta2.EngineFrontend{Spec: v1beta2.EngineFrontendSpec{NodeID: there, DesireState: v1beta2.InstanceStateRunning},
		Status: v1beta2.EngineFrontendStatus{CurrentState: v1beta2.InstanceStateRunning}}
	require.Equal(t, Engine{Node: there, State: v1beta2.InstanceStateRunning}, EngineOf(e))
	require.Equal(t, Frontend{Node: there, State: v1beta2.InstanceStateRunning}, FrontendOf(f))
	e.Spec.DesireState, f.Spec.DesireState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	require.Equal(t, Engine{}, EngineOf(e))
	require.Equal(t, Frontend{}, FrontendOf(f))
	e.Spec.DesireState, f.Spec.DesireState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
	e.DeletionTimestamp, f.DeletionTimestamp = &metav1.Time{Time: now}, &metav1.Time{Time: now}
	require.Equal(t, Engine{}, EngineOf(e))
	require.Equal(t, Frontend{}, FrontendOf(f))

	w := moving(running, withdrawn("csi-"+here), func(w *World) { w.Engines = append(w.Engines, Engine{Snapshots: 1}) })
	require.Equal(t, RowConfirm, Decide(w).Row, "nor is it compared with")
}
