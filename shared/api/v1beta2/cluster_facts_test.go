package v1beta2_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

var deleting = &metav1.Time{Time: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}

func nodeWith(kind string, status v1beta2.ConditionStatus, reason string) *v1beta2.Node {
	return &v1beta2.Node{Status: v1beta2.NodeStatus{Conditions: []v1beta2.Condition{{Type: kind, Status: status, Reason: reason}}}}
}

func TestANodeIsDownOnPositiveEvidenceOnly(t *testing.T) {
	ready := v1beta2.NodeReady
	require.True(t, v1beta2.IsNodeDown(nil), "it does not exist")
	require.True(t, v1beta2.IsNodeDown(nodeWith(ready, v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeGone)))
	require.True(t, v1beta2.IsNodeDown(nodeWith(ready, v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)))
	for name, node := range map[string]*v1beta2.Node{
		"not evaluated yet": {},
		"being deleted":     {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deleting}},
		"another reason":    nodeWith(ready, v1beta2.ConditionFalse, "ManagerPodMissing"),
		"unknown":           nodeWith(ready, v1beta2.ConditionUnknown, v1beta2.ReasonKubernetesNodeNotReady),
		"another condition": nodeWith(v1beta2.NodeSchedulable, v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeGone),
	} {
		require.False(t, v1beta2.IsNodeDown(node), name)
	}
}

func TestANodeIsCordonedByItsCondition(t *testing.T) {
	schedulable, cordoned := v1beta2.NodeSchedulable, v1beta2.ReasonKubernetesNodeCordoned
	require.True(t, v1beta2.IsNodeCordoned(nodeWith(schedulable, v1beta2.ConditionFalse, cordoned)))
	require.False(t, v1beta2.IsNodeCordoned(nodeWith(schedulable, v1beta2.ConditionTrue, cordoned)))
	require.False(t, v1beta2.IsNodeCordoned(nodeWith(schedulable, v1beta2.ConditionFalse, "Another")))
	require.False(t, v1beta2.IsNodeCordoned(&v1beta2.Node{}), "not evaluated yet")
	require.False(t, v1beta2.IsNodeCordoned(nil), "it does not exist")
}

func TestAReplicaIsHealthyByItsObject(t *testing.T) {
	replica := func(healthyAt, failedAt string) *v1beta2.Replica {
		return &v1beta2.Replica{Spec: v1beta2.ReplicaSpec{HealthyAt: healthyAt, FailedAt: failedAt}}
	}
	healthy, fresh, failed, leaving := replica("t", ""), replica("", ""), replica("t", "t"), replica("t", "")
	leaving.DeletionTimestamp = deleting

	require.True(t, v1beta2.IsReplicaHealthy(healthy))
	for _, r := range []*v1beta2.Replica{nil, fresh, failed, leaving} {
		require.False(t, v1beta2.IsReplicaHealthy(r))
	}
	require.True(t, v1beta2.IsReplicaReadable(healthy, []v1beta2.Replica{*healthy, *fresh}))
	require.True(t, v1beta2.IsReplicaReadable(fresh, []v1beta2.Replica{*fresh}), "none was ever healthy")
	require.False(t, v1beta2.IsReplicaReadable(fresh, []v1beta2.Replica{*healthy, *fresh}), "it is to be rebuilt")
	require.False(t, v1beta2.IsReplicaReadable(fresh, []v1beta2.Replica{*failed, *fresh}), "the data was on another one")
	for _, r := range []*v1beta2.Replica{nil, failed, leaving} {
		require.False(t, v1beta2.IsReplicaReadable(r, nil))
	}
}

func TestTheVolumeByTheNameOfAnInstance(t *testing.T) {
	for name, want := range map[string]string{"vol-1-r-0a1b": "vol-1", "a-r-1-r-00000002": "a-r-1", "vol-r-": "", "-r-1": "", "vol-e-0": "",
		"":        "",
		"vol-r-A": ""} {
		require.Equal(t, want, v1beta2.VolumeOfReplicaName(name), name)
	}
	for name, want := range map[string]string{"vol-1-e-0": "vol-1", "vol-1-r-0": "", "vol-ef-0": "", "": ""} {
		require.Equal(t, want, v1beta2.VolumeOfEngineName(name), name)
	}
}

func TestTheOwnerReferenceOfAVolume(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "u"}}
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)}}}
	require.True(t, v1beta2.BelongsTo(r, v))
	require.Equal(t, v.UID, v1beta2.VolumeUIDOf(r))
}

// A snapshot that is copied, or whose data a linked clone shares, must not be merged away.
func TestWhichSnapshotAVolumeNeeds(t *testing.T) {
	copying := v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated, SourceVolume: "a", Snapshot: "s"}
	going := metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}
	for sentence, c := range map[string]struct {
		volume v1beta2.Volume
		want   string
	}{
		"an ordinary volume": {v1beta2.Volume{}, ""},
		"a linked clone": {v1beta2.Volume{Spec: v1beta2.VolumeSpec{CloneMode: v1beta2.CloneModeLinked, DataSource: "snap://a/s"}},
			"a/s"},
		"a linked clone of no snapshot": {v1beta2.Volume{Spec: v1beta2.VolumeSpec{CloneMode: v1beta2.CloneModeLinked, DataSource: "vol://a"}},
			""},
		"a linked clone that is going still reads it": {v1beta2.Volume{ObjectMeta: going,
			Spec: v1beta2.VolumeSpec{CloneMode: v1beta2.CloneModeLinked, DataSource: "snap://a/s"}}, "a/s"},
		"a copy under way": {v1beta2.Volume{Spec: v1beta2.VolumeSpec{DataSource: "vol://a"},
			Status: v1beta2.VolumeStatus{CloneStatus: copying}}, "a/s"},
		"a copy that is whole": {
			v1beta2.Volume{Status: v1beta2.VolumeStatus{CloneStatus: v1beta2.VolumeCloneStatus{State: v1beta2.CloneCompleted,
				SourceVolume: "a", Snapshot: "s"}}}, ""},
		"a copy that is not needed": {v1beta2.Volume{ObjectMeta: going, Status: v1beta2.VolumeStatus{CloneStatus: copying}}, ""},
		"a copy without its snapshot": {
			v1beta2.Volume{Status: v1beta2.VolumeStatus{CloneStatus: v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated,
				SourceVolume: "a"}}}, ""},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.want, v1beta2.SharedSnapshot(&c.volume)) })
	}
}
