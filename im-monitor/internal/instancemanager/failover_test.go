package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// V8: an instance manager that appears idle may be needed soon.
func TestAVolumeThatIsOnItsWayKeepsTheInstanceManagersOfItsReplicas(t *testing.T) {
	ago := func(d time.Duration) string { return now.Add(-d).Format(time.RFC3339Nano) }
	running := v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "vol-e-0"},
		Spec:   v1beta2.EngineSpec{VolumeName: "vol", DesireState: "running"},
		Status: v1beta2.EngineStatus{CurrentState: "running", ReplicaModeMap: map[string]string{"r": "RW"}}}
	for _, c := range []struct {
		name   string
		change func(*v1beta2.Volume, *v1beta2.Engine)
		want   string
	}{
		{"attached and well", func(*v1beta2.Volume, *v1beta2.Engine) {}, ""},
		{"detached", func(v *v1beta2.Volume, e *v1beta2.Engine) { detached(v, e); v.Spec.NodeID = "" }, ""},
		{"deleted", func(v *v1beta2.Volume, e *v1beta2.Engine) {
			detached(v, e)
			v.Status.State, v.DeletionTimestamp = v1beta2.VolumeStateDetaching, &metav1.Time{Time: now}
		}, ""},
		{"attaching", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.State = v1beta2.VolumeStateAttaching },
			"volume vol is attaching"},
		{"detaching", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.State = v1beta2.VolumeStateDetaching },
			"volume vol is detaching"},
		{"between two tries to attach it", detached, "volume vol is about to be attached to node node-1"},
		{"faulted, which no replica mends", func(v *v1beta2.Volume, e *v1beta2.Engine) {
			detached(v, e)
			v.Status.Robustness = v1beta2.VolumeRobustnessFaulted
		}, ""},
		{"migrating", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Spec.MigrationNodeID = "node-2" }, "volume vol migrates"},
		{"the end of its migration", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.CurrentMigrationNodeID = "node-2" },
			"volume vol migrates"},
		{"its target moves", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Spec.TargetNodeID = "node-2" },
			"the target of volume vol moves to node node-2"},
		{"its target is away", func(v *v1beta2.Volume, _ *v1beta2.Engine) {
			v.Spec.TargetNodeID, v.Status.CurrentTargetNodeID = "node-2", "node-2"
		}, ""},
		{"its target comes back", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.CurrentTargetNodeID = "node-2" },
			"the target of volume vol moves to node node-1"},
		{"rebuilding", func(_ *v1beta2.Volume, e *v1beta2.Engine) { e.Status.ReplicaModeMap["r"] = "WO" }, "volume vol rebuilds replica r"},
		{"beginning to rebuild", func(_ *v1beta2.Volume, e *v1beta2.Engine) {
			e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"r": {IsRebuilding: true}}
		}, "volume vol rebuilds a replica"},
		{"its engine failed", func(_ *v1beta2.Volume, e *v1beta2.Engine) { e.Status.CurrentState = "error" },
			"volume vol lost its engine: vol-e-0 is error"},
		{"no one sees its engine", func(_ *v1beta2.Volume, e *v1beta2.Engine) { e.Status.CurrentState = "unknown" },
			"volume vol lost its engine: vol-e-0 is unknown"},
		{"attached again a minute ago", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.RemountRequestedAt = ago(time.Minute) },
			"volume vol lost its engine less than 5m0s ago"},
		{"salvaged a minute ago", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.LastAutoSalvagedAt = ago(time.Minute) },
			"volume vol lost its engine less than 5m0s ago"},
		{"attached again exactly as long ago as it lasts", func(v *v1beta2.Volume, _ *v1beta2.Engine) {
			v.Status.RemountRequestedAt = ago(5 * time.Minute)
		}, ""},
		{"attached again at a time that cannot be read", func(v *v1beta2.Volume, _ *v1beta2.Engine) {
			v.Status.RemountRequestedAt = "yesterday"
		}, ""},
		{"an engine that must stop failed", func(_ *v1beta2.Volume, e *v1beta2.Engine) {
			e.Spec.DesireState, e.Status.CurrentState = "stopped", "error"
		}, ""},
		{"an engine that must stop still rebuilds", func(_ *v1beta2.Volume, e *v1beta2.Engine) {
			e.Spec.DesireState, e.Status.ReplicaModeMap["r"] = "stopped", "WO"
		}, ""},
		{"an engine that starts remembers a rebuild", func(_ *v1beta2.Volume, e *v1beta2.Engine) {
			e.Status.CurrentState, e.Status.ReplicaModeMap["r"] = "starting", "WO"
		}, ""},
		{"attached again long ago", func(v *v1beta2.Volume, _ *v1beta2.Engine) { v.Status.RemountRequestedAt = ago(6 * time.Minute) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol"}, Spec: v1beta2.VolumeSpec{NodeID: "node-1"},
				Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1"}}
			e := running.DeepCopy()
			c.change(v, e)
			require.Equal(t, c.want, Unsettled(v, []v1beta2.Engine{*e}, now, 5*time.Minute))
		})
	}
}

func detached(v *v1beta2.Volume, e *v1beta2.Engine) {
	v.Status.State, v.Status.CurrentNodeID = v1beta2.VolumeStateDetached, ""
	e.Spec.DesireState, e.Status.CurrentState = "stopped", "stopped"
}

func TestAnIdleInstanceManagerStaysWhileAVolumeIsOnItsWayAndSaysWhich(t *testing.T) {
	unsettled := func(w *World) { w.Unsettled = "volume vol is attaching" }
	for name, w := range map[string]World{"old": world(old, asked, unsettled), "old v2": world(v2, old, asked, unsettled),
		"outdated": world(v2, noMount, asked, unsettled)} {
		v := Decide(w)
		require.Equal(t, KeepPod, v.Pod, name)
		require.Positive(t, v.After, name)
		c := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerSettingSynced)
		require.Equal(t, v1beta2.ReasonVolumeUnsettled, c.Reason, name)
		require.Contains(t, c.Message, "while volume vol is attaching", name)
		w.Unsettled = ""
		require.Equal(t, DeletePod, Decide(w).Pod, name)
	}
}

func TestAnInstanceManagerThatWaitsSaysForWhatAndHowThatEnds(t *testing.T) {
	w := world(v2, noPod, sibling(true))
	w.Siblings[0].Runs = Running(v1beta2.InstanceManagerStatus{InstanceEngines: map[string]v1beta2.InstanceProcess{"vol-e-0": {}},
		InstanceEngineFrontends: map[string]v1beta2.InstanceProcess{"vol-ef-0": {}}})
	c := conditions.Get(Decide(w).Status.Conditions, v1beta2.InstanceManagerPodReady)
	require.Equal(t, v1beta2.ReasonPodBlocked, c.Reason)
	require.Contains(t, c.Message, "stays while engine frontend vol-ef-0, engine vol-e-0 are on it")
	require.Contains(t, c.Message, "kubectl -n longhorn-system delete pod "+w.Siblings[0].Name)
}

func TestAnyEngineOfAVolumeKeepsItUnsettled(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol"}, Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached}}
	engine := func(name, state string) v1beta2.Engine {
		return v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.EngineSpec{VolumeName: "vol", DesireState: "running"},
			Status: v1beta2.EngineStatus{CurrentState: state}}
	}
	require.Equal(t, "volume vol lost its engine: vol-e-1 is error",
		Unsettled(v, []v1beta2.Engine{engine("vol-e-0", "running"), engine("vol-e-1", "error")}, now, time.Minute))
	require.Empty(t, Unsettled(v, nil, now, time.Minute))
}

func TestUnsettledNamesTheSameReplicaEachTime(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol"}, Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached}}
	e := v1beta2.Engine{Spec: v1beta2.EngineSpec{VolumeName: "vol", DesireState: "running"},
		Status: v1beta2.EngineStatus{CurrentState: "running", ReplicaModeMap: map[string]string{"a": "WO", "b": "WO"}}}
	for range 100 {
		require.Equal(t, "volume vol rebuilds replica a", Unsettled(v, []v1beta2.Engine{e}, now, time.Minute))
	}
}
