package snapshotcontroller

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// full is a Snapshot as the API server sends it: everything that a settled one has, in strings of its own.
func full(t testing.TB, number int) *v1beta2.Snapshot {
	name := fmt.Sprintf("snapshot-of-a-usual-length-%06d", number)
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pvc-%036d", number/30), UID: types.UID(fmt.Sprintf("%036d", number/30))}}
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: v1beta2.DefaultNamespace, UID: types.UID(fmt.Sprintf("%036d", number)), ResourceVersion: "123456", Generation: 1,
		Finalizers: []string{v1beta2.Finalizer}, Labels: map[string]string{v1beta2.LabelVolume: v.Name},
		OwnerReferences: []metav1.OwnerReference{snapshot.OwnerReference(v)},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: Owner, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:readyToUse":{}}}`)}}},
	}}
	s.Spec.Volume, s.Spec.CreateSnapshot = v.Name, true
	s.Status = v1beta2.SnapshotStatus{
		Parent: name, Children: map[string]bool{name: true}, UserCreated: true, CreationTime: "2026-08-01T11:00:00Z", Size: 1 << 30,
		RestoreSize: 1 << 34, ReadyToUse: true, RequestedTime: "2026-08-01T11:00:00Z",
		Conditions: []v1beta2.Condition{
			{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady, Message: "It can be used.", LastTransitionTime: "2026-08-01T11:00:00Z"},
			{Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonTaken, Message: "The engine took the snapshot.", LastTransitionTime: "2026-08-01T11:00:00Z"},
		},
	}
	body, err := json.Marshal(s)
	require.NoError(t, err)
	own := &v1beta2.Snapshot{}
	require.NoError(t, json.Unmarshal(body, own))
	return own
}

// S15: what is kept of a settled snapshot stays below the 2.2 kB that a snapshot may cost.
func TestASettledSnapshotIsKeptInLittle(t *testing.T) {
	const count = 3000
	kept := make([]any, 0, count)
	before := heap()
	for i := range count {
		kept = append(kept, thinSnapshot(full(t, i)))
	}
	each := (heap() - before) / count
	runtime.KeepAlive(kept)
	t.Logf("%d bytes each", each)
	require.Less(t, each, uint64(2200))
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// What is left out of the cache changes no decision, and the transform may be done twice.
func TestThinIsEnough(t *testing.T) {
	whole := full(t, 1)
	thin := thinSnapshot(whole).(*v1beta2.Snapshot)
	require.Equal(t, thin, thinSnapshot(thin), "it may be done twice")
	require.Equal(t, snapshot.UID(whole), snapshot.UID(thin))
	require.True(t, conditions.Equal(whole.Status.Conditions, thin.Status.Conditions))
	w := snapshot.World{Snapshot: whole, Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: whole.Spec.Volume, UID: snapshot.UID(whole)}}}
	first := snapshot.Decide(w)
	w.Snapshot = thin
	require.Equal(t, first.Step, snapshot.Decide(w).Step)
}
