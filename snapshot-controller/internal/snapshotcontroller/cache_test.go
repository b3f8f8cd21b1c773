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
	"drover.dev/drover/snapshot-controller/internal/compactcache"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// full is a Snapshot as the API server sends it: everything that a settled one has, in strings of its own.
func full(t testing.TB, number int) *v1beta2.Snapshot {
	name := fmt.Sprintf("snapshot-of-a-usual-length-%06d", number)
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pvc-%036d", number/30),
		UID: types.UID(fmt.Sprintf("%036d", number/30))}}
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: v1beta2.DefaultNamespace, UID: types.UID(fmt.Sprintf("%036d", number)), ResourceVersion: "123456",
		Generation: 1,
		Finalizers: []string{v1beta2.Finalizer}, Labels: map[string]string{v1beta2.LabelVolume: v.Name},
		OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: Owner,
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:readyToUse":{}}}`)}}},
	}}
	s.Spec.Volume, s.Spec.CreateSnapshot = v.Name, true
	s.Status = v1beta2.SnapshotStatus{
		Parent: name, Children: map[string]bool{name: true}, UserCreated: true, CreationTime: "2026-08-01T11:00:00Z", Size: 1 << 30,
		RestoreSize: 1 << 34, ReadyToUse: true, RequestedTime: "2026-08-01T11:00:00Z",
		Conditions: []v1beta2.Condition{
			{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady, Message: "It can be used.",
				LastTransitionTime: "2026-08-01T11:00:00Z"},
			{Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonTaken,
				Message: "The engine took the snapshot.", LastTransitionTime: "2026-08-01T11:00:00Z"},
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
	require.Less(t, each, uint64(900), "the rest is for its entry in the engine's list, and for indexes")
}

// A snapshot that a controller took for itself is known as such; the labels of the others of its volume stay as they are.
func TestWhoTookASnapshotSurvivesTheCache(t *testing.T) {
	labelled, plain := full(t, 1), full(t, 1)
	labelled.Labels[v1beta2.LabelManagedBy], labelled.Labels["other"] = v1beta2.ManagedByUpgradeController, "label"
	thin := thinSnapshot(labelled)
	require.Equal(t, map[string]string{v1beta2.LabelVolume: plain.Labels[v1beta2.LabelVolume],
		v1beta2.LabelManagedBy: v1beta2.ManagedByUpgradeController}, thin.Labels)
	require.Equal(t, plain.Labels, thinSnapshot(plain).Labels)
	delete(labelled.Labels, v1beta2.LabelVolume)
	require.Equal(t, v1beta2.ManagedByUpgradeController, v1beta2.SnapshotTaker(thinSnapshot(labelled)))
}

// What was listed in a target names its job there alone: retention reads it.
func TestTheJobOfAListedBackupSurvivesTheCache(t *testing.T) {
	b := &v1beta2.Backup{}
	require.Nil(t, thinBackup(b).Status.Labels)
	b.Status.Labels = map[string]string{v1beta2.LabelRecurringJob: "daily", "KubernetesStatus": "{}"}
	require.Equal(t, map[string]string{v1beta2.LabelRecurringJob: "daily"}, thinBackup(b).Status.Labels)
}

// An engine's list names each snapshot four times.
func TestAnEntryOfAnEnginesListIsKeptInLittle(t *testing.T) {
	const count, chain = 100, 30
	kept := make([]any, 0, count)
	before := heap()
	for range count {
		e := &v1beta2.Engine{Status: v1beta2.EngineStatus{Snapshots: map[string]v1beta2.SnapshotInfo{}}}
		name := func(n int) string { return fmt.Sprintf("snapshot-of-a-usual-length-%06d", n) }
		for n := range chain {
			e.Status.Snapshots[name(n)] = v1beta2.SnapshotInfo{Name: name(n), Parent: name(n - 1),
				Children: map[string]bool{name(n + 1): true}, Created: fmt.Sprintf("2026-08-%02dT11:00:00Z", n), Size: "1"}
		}
		kept = append(kept, thinEngine(e))
	}
	each := (heap() - before) / (count * chain)
	runtime.KeepAlive(kept)
	t.Logf("%d bytes each", each)
	require.Less(t, each, uint64(200))
}

// An engine's children are kept as reported, whether they match its parents or not.
func TestChildrenSurviveTheCache(t *testing.T) {
	const head = v1beta2.VolumeHead
	info := func(parent string, children ...string) v1beta2.SnapshotInfo {
		out := v1beta2.SnapshotInfo{Parent: parent, Children: map[string]bool{}, Created: "2026-08-01T11:00:00Z", Size: "1"}
		for _, child := range children {
			out.Children[child] = true
		}
		return out
	}
	for name, list := range map[string]map[string]v1beta2.SnapshotInfo{
		"a chain":                         {"s": info("", "t"), "t": info("s", head), head: info("t")},
		"a fork":                          {"s": info("", "t", head), "t": info("s"), head: info("s")},
		"nothing builds on it":            {"r": info("", head), "s": info(""), head: info("r")},
		"a child that does not report it": {"s": info("", "t", head), "t": info("r"), head: info("s")},
		"a child that is not listed":      {"s": info("", head), "t": info("s"), head: info("s")},
		"an entry without children":       {"s": info(""), "t": info("s", head), head: info("t")},
	} {
		t.Run(name, func(t *testing.T) {
			e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{VolumeName: "v", Active: true},
				Status: v1beta2.EngineStatus{CurrentState: v1beta2.InstanceStateRunning, Snapshots: list}}
			s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "s", Finalizers: []string{v1beta2.Finalizer},
				Labels:          map[string]string{v1beta2.LabelVolume: "v"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "Volume", Name: "v", UID: "1"}}}, Spec: v1beta2.SnapshotSpec{Volume: "v"}}
			w := snapshot.World{Snapshot: s, Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "1"}}, Engine: e}
			whole := snapshot.Decide(w)
			require.Equal(t, snapshot.StepStatus, whole.Step)
			thin := thinEngine(e)
			require.Nil(t, thin.Status.Snapshots)
			require.Equal(t, thin, thinEngine(thin), "it may be done twice")
			w.Engine = thin.DeepCopy()
			compactcache.OpenEngine(w.Engine)
			require.Equal(t, len(whole.Status.Children), len(snapshot.Decide(w).Status.Children))
			for child := range list["s"].Children {
				require.Contains(t, snapshot.Decide(w).Status.Children, child)
			}
		})
	}
}

// Of one engine's change, those snapshots are news whose entries, or whose children, changed.
func TestAChangeOfAListIsAboutThoseThatItConcerns(t *testing.T) {
	const head = v1beta2.VolumeHead
	thin := func(list map[string]v1beta2.SnapshotInfo) map[string]v1beta2.SnapshotInfo {
		return compactcache.List(thinEngine(&v1beta2.Engine{Status: v1beta2.EngineStatus{Snapshots: list}}))
	}
	info := func(parent, child, size string) v1beta2.SnapshotInfo {
		return v1beta2.SnapshotInfo{Parent: parent, Children: map[string]bool{child: true}, Size: size}
	}
	before := thin(map[string]v1beta2.SnapshotInfo{"a": info("", "b", "1"), "b": info("a", "c", "1"), "c": info("b", head, "1"),
		head: {Parent: "c"}})
	grown := thin(map[string]v1beta2.SnapshotInfo{"a": info("", "b", "1"), "b": info("a", "c", "1"), "c": info("b", "d", "1"),
		"d": info("c", head, "1"), head: {Parent: "d"}})
	merged := thin(map[string]v1beta2.SnapshotInfo{"a": info("", "c", "1"), "c": info("a", head, "2"), head: {Parent: "c"}})
	written := thin(map[string]v1beta2.SnapshotInfo{"a": info("", "b", "1"), "b": info("a", "c", "1"), "c": info("b", head, "9"),
		head: {Parent: "c"}})
	require.Empty(t, changedInfos(before, before))
	require.Subset(t, []string{"c", "d"}, changedInfos(before, grown))
	require.Subset(t, changedInfos(before, grown), []string{"c", "d"})
	require.ElementsMatch(t, []string{"c"}, changedInfos(before, written))
	require.Subset(t, changedInfos(before, merged), []string{"a", "b", "c"})
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// A volume that is filled is known as such, and that it is not any more is news to its Snapshots.
func TestThatAVolumeIsFilledSurvivesTheCache(t *testing.T) {
	var none ofVolumes
	for _, change := range []func(*v1beta2.Volume){
		func(v *v1beta2.Volume) { v.Status.RestoreRequired = true }, func(v *v1beta2.Volume) { v.Status.IsStandby = true },
		func(v *v1beta2.Volume) { v.Status.CloneStatus.State = v1beta2.CloneInitiated },
	} {
		v := &v1beta2.Volume{}
		change(v)
		reason, _ := snapshot.Filling(thinVolume(v))
		require.NotEmpty(t, reason)
		require.NotEqual(t, none, volumeFacts(thinVolume(v)))
	}
}

// What is left out of the cache changes no decision, and the transform may be done twice.
func TestThinIsEnough(t *testing.T) {
	whole := full(t, 1)
	thin := thinSnapshot(whole)
	require.Equal(t, thin, thinSnapshot(thin), "it may be done twice")
	require.Equal(t, snapshot.UID(whole), snapshot.UID(thin))
	require.True(t, conditions.Equal(whole.Status.Conditions[:1], thin.Status.Conditions))
	w := snapshot.World{Snapshot: whole, Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: whole.Spec.Volume,
		UID: snapshot.UID(whole)}}}
	first := snapshot.Decide(w)
	w.Snapshot = thin.DeepCopy()
	compactcache.OpenSnapshot(w.Snapshot)
	require.Equal(t, whole.Status.Children, w.Snapshot.Status.Children)
	require.Equal(t, first.Step, snapshot.Decide(w).Step)
}
