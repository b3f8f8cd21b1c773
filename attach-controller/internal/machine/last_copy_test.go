package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// However early the engine is lost, an empty replica that is placed meanwhile must not be taken for one with the data.
func TestReplicasOfTheFirstOpenAreHealthyBeforeTheirEngineHearsOfThem(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x", "y")
	for range 20 {
		verdict := Decide(s.World)
		for _, w := range verdict.Writes {
			if _, ordered := w.Spec["replicaAddressMap"]; ordered {
				require.Equal(t, []string{"vol-r-0", "vol-r-1"}, markedHealthy(verdict.Writes), "in an earlier stage of the same pass")
				return
			}
		}
		s.Volume.Spec.NodeID = "x"
		s.step()
		s.imMonitor()
	}
	require.Fail(t, "no engine was ordered")
}

func markedHealthy(writes []Write) []string {
	var out []string
	for _, w := range writes {
		if at, _ := w.Spec["healthyAt"].(string); w.Stage == StageMark && at != "" {
			out = append(out, w.Object.GetName())
		}
	}
	return out
}

// UPG-1: the cache may not show yet that the other replica was marked a moment ago.
func TestAReplicaIsMarkedOnlyOnUncachedReplicas(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.NodeID = "x"
	s.Volume.Status.State = v1beta2.VolumeStateAttaching
	require.False(t, Decide(s.World).Fresh, "nothing is marked")

	s.Replicas[0].Spec.DesireState, s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateError
	require.True(t, Decide(s.World).Fresh)

	s.Replicas[1].Spec.FailedAt = "2026-01-01T00:00:00Z"
	require.False(t, Decide(s.World).Fresh, "the last one is never marked")
}

// Nothing was ever written to such a volume, so that any of its replicas will do.
func TestAVolumeThatWasNeverOpenedIsSalvagedFromReplicasThatWereNeverHealthy(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Status.State = v1beta2.VolumeStateDetached
	for _, r := range s.Replicas {
		r.Spec.FailedAt, r.Spec.LastFailedAt = "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
	}
	verdict := Decide(s.World)
	require.Equal(t, v1beta2.VolumeRobustnessUnknown, verdict.Status["robustness"])
	for _, w := range verdict.Writes {
		if r, replica := w.Object.(*v1beta2.Replica); replica {
			require.Equal(t, "", w.Spec["failedAt"], r.Name)
		}
	}
}

// An engine that was asked for may have opened the replica before its node went down: then its data is the newest.
func TestAReplicaThatTheEngineWasAskedForOverIsNotMarkedBeforeTheEngineSpeaks(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x", "y", "z")
	s.Volume.Spec.NodeID = "x"
	ordered := func() bool {
		return len(s.Engines) > 0 && s.Engines[0].Spec.DesireState == v1beta2.InstanceStateRunning
	}
	for range 30 {
		if s.step(); !ordered() {
			s.imMonitor()
		}
	}
	require.True(t, ordered())
	require.NotEqual(t, v1beta2.InstanceStateRunning, s.Engines[0].Status.CurrentState)
	s.Nodes["y"] = Node{Known: true, Down: true}
	untouched(t, Decide(s.World), s.Replicas[1])
}

// UPG-1: the last replica that the engine uses stays with the engine, whatever the Replica's fields are.
func TestAReplicaThatIsMarkedStaysInTheEngineUntilAnotherOneIsRW(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Replicas[1].Spec.FailedAt = "2026-01-01T00:00:00Z"
	s.Engines[0].Status.ReplicaModeMap = map[string]string{"vol-r-1": v1beta2.ReplicaModeRW}
	require.NotContains(t, spec(Decide(s.World), s.Engines[0]), "replicaAddressMap")

	s.Engines[0].Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeRW
	require.NotContains(t, spec(Decide(s.World), s.Engines[0]), "replicaAddressMap", "that may have been long ago")

	s.Engines[0].Spec.LookRequestedAt = s.Now.Format(time.RFC3339Nano)
	s.Engines[0].Status.LookedAt = s.Engines[0].Spec.LookRequestedAt
	w := writeOf(t, Decide(s.World), s.Engines[0])
	require.Equal(t, map[string]any{"vol-r-1": nil}, w.Spec["replicaAddressMap"])
}

// spec is what is written to the spec of an object.
func spec(verdict Verdict, of metav1.Object) map[string]any {
	if w := findWrite(verdict, of); w != nil {
		return w.Spec
	}
	return nil
}

// A second engine over a replica that the first one dropped would never start, or would serve stale data.
func TestASecondEngineOverAReplicaThatTheFirstOneDroppedIsReplaced(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.MigrationNodeID = "y"
	require.True(t, s.settle())
	require.Len(t, s.Engines[1].Spec.ReplicaAddressMap, 2)

	s.Engines[0].Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeERR
	require.Equal(t, map[string]any{"desireState": v1beta2.InstanceStateStopped}, writeOf(t, Decide(s.World), s.Engines[1]).Spec)
	require.True(t, s.settle())
	require.Len(t, s.Engines, 2)
	require.Len(t, s.Engines[1].Spec.ReplicaAddressMap, 1)
	require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[1].Status.CurrentState)
}

func TestAVolumeIsNotHandedOverToASecondEngineWithOldData(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.MigrationNodeID = "y"
	require.True(t, s.settle())
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
	s.Engines[0].Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeERR
	require.Equal(t, v1beta2.VolumeStateDetaching, Decide(s.World).Status["state"])
}

// What is being deleted never starts.
func TestAMigrationThatBeginsAgainWaitsForTheEndOfItsFormerEngine(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.MigrationNodeID = "y"
	require.True(t, s.settle())
	now := metav1.Now()
	s.Engines[1].DeletionTimestamp, s.Engines[1].Spec.DesireState, s.Engines[1].Status.CurrentState = &now, v1beta2.InstanceStateStopped,
		v1beta2.InstanceStateStopped
	require.True(t, s.step(), "its replica processes stop")
	require.True(t, s.imMonitor())
	require.Equal(t, DropFinalizer, writeOf(t, Decide(s.World), s.Engines[1]).Kind)
}

// The replica whose instance failed may be the only one with the newest data: what the engine dropped before is marked first.
func TestWhatTheEngineDroppedIsMarkedBeforeWhatFailedSince(t *testing.T) {
	for _, state := range []string{v1beta2.VolumeStateAttached, v1beta2.VolumeStateDetaching} {
		s := attached(v1beta2.DataEngineV1, "x", "y")
		s.Volume.Status.State = state
		e := s.Engines[0]
		e.Status.CurrentState, e.Status.ReplicaModeMap["vol-r-1"] = v1beta2.InstanceStateError, v1beta2.ReplicaModeERR
		if state == v1beta2.VolumeStateDetaching {
			e.Spec.DesireState, e.Status.CurrentState, e.Status.UUID = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped, ""
			s.Volume.Spec.NodeID = "y"
		}
		s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateError
		verdict := Decide(s.World)
		require.NotEmpty(t, writeOf(t, verdict, s.Replicas[1]).Spec["failedAt"], state)
		if w := findWrite(verdict, s.Replicas[0]); w != nil {
			require.NotContains(t, w.Spec, "failedAt", state)
		}
	}
}

// A copy whose rebuild ended just before its engine did is one, in the same pass already.
func TestTheOnlyHealthyReplicaIsMarkedOnceAnotherIsRebuilt(t *testing.T) {
	for name, c := range map[string]struct {
		mode   string
		marked bool
	}{
		"rebuilt":          {v1beta2.ReplicaModeRW, true},
		"is being rebuilt": {v1beta2.ReplicaModeWO, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Spec.NodeID = "x"
			require.True(t, s.settle(), "%s", s)
			s.Replicas[1].Spec.HealthyAt = ""
			s.Engines[0].Status.ReplicaModeMap = map[string]string{"vol-r-0": v1beta2.ReplicaModeERR, "vol-r-1": c.mode}
			s.Volume.Spec.NodeID, s.Volume.Status.State = "", v1beta2.VolumeStateDetaching
			s.Engines[0].Spec.DesireState, s.Engines[0].Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
			verdict := Decide(s.World)
			one := findWrite(verdict, s.Replicas[0])
			require.Equal(t, c.marked, one != nil && one.Spec["failedAt"] != nil, "%s", s)
			if c.marked {
				require.NotEmpty(t, writeOf(t, verdict, s.Replicas[1]).Spec["healthyAt"])
			}
		})
	}
}

// again is a volume that was attached once, is detached, and is wanted on x again.
func again(t *testing.T, nodes ...string) *fixture {
	t.Helper()
	s := attached(v1beta2.DataEngineV1, nodes...)
	s.Volume.Spec.NodeID = ""
	require.True(t, s.settle())
	s.Volume.Spec.NodeID, s.Volume.Status.State = "x", v1beta2.VolumeStateAttaching
	return s
}

// UPG-1: it lacks what is written from then on, unless the engine has opened it before.
func TestAReplicaOnANodeThatIsDownFailsBeforeTheEngineStartsWithoutIt(t *testing.T) {
	for name, c := range map[string]struct {
		is   func(*fixture)
		fail bool
	}{
		"its node is down":               {func(s *fixture) { s.Nodes["y"] = Node{Known: true, Down: true} }, true},
		"its node is gone":               {func(s *fixture) { delete(s.Nodes, "y") }, true},
		"not one that is placed nowhere": {func(s *fixture) { s.Replicas[1].Spec.NodeID = "" }, false},
		"not one that has failed before": {func(s *fixture) { delete(s.Nodes, "y"); s.Replicas[1].Spec.FailedAt = early }, false},
		"not one on a node that is up":   {func(*fixture) {}, false},
		"not one that the engine was given": {func(s *fixture) {
			delete(s.Nodes, "y")
			s.Engines[0].Spec.DesireState = v1beta2.InstanceStateRunning
			s.Engines[0].Spec.ReplicaAddressMap = map[string]string{"vol-r-0": "a:1", "vol-r-1": "b:1"}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := again(t, "x", "y")
			c.is(s)
			v := Decide(s.World)
			require.Nil(t, spec(v, s.Replicas[1])["failedAt"], "the other one may not start")
			s.Replicas[0].Spec.DesireState, s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
			v = Decide(s.World)
			require.Equal(t, c.fail, spec(v, s.Replicas[1])["failedAt"] != nil)
			if c.fail {
				require.Contains(t, writeOf(t, v, s.Replicas[1]).Events[0].Note, "is down while the volume is attached without it")
			}
			require.Nil(t, spec(v, s.Replicas[0])["failedAt"])
		})
	}
}

// Marked too early, the copy that is whole would never be used again: only a running engine rebuilds it.
func TestAReplicaThatReturnsServesWhereTheOtherDoesNotStart(t *testing.T) {
	s := again(t, "x", "y")
	s.Nodes["y"] = Node{Known: true, Down: true}
	s.step()
	r := s.Replicas[0]
	require.Equal(t, v1beta2.InstanceStateRunning, r.Spec.DesireState)
	require.Empty(t, s.Replicas[1].Spec.FailedAt, "%s", s)
	r.Status.CurrentState = v1beta2.InstanceStateError
	s.Nodes["y"] = Node{Known: true}
	require.True(t, s.settle(), "%s", s)
	require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State, "%s", s)
	require.NotEmpty(t, r.Spec.FailedAt, "%s", s)
}

func TestAnEngineStartsOverTheReplicasThatCountOnly(t *testing.T) {
	s := again(t, "x", "y")
	s.Replicas[0].Spec.SalvageRequested = true
	for _, r := range s.Replicas {
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
	}
	s.Nodes["y"] = Node{Known: true, Down: true}
	v := Decide(s.World)
	w := writeOf(t, v, s.Engines[0])
	require.Equal(t, v1beta2.InstanceStateRunning, w.Spec["desireState"])
	require.Equal(t, true, w.Spec["salvageRequested"], "one of them was salvaged")
	require.Equal(t, "x", w.Labels[v1beta2.LabelNode])
	require.Equal(t, map[string]any{"vol-r-1": nil}, w.Spec["replicaAddressMap"])
	require.True(t, v.Fresh, "recent marks count")
	require.NotContains(t, spec(v, s.Replicas[0]), "healthyAt", "it is not the first attachment")
}

func TestTheLastHealthyReplicaThatCannotStartFaultsTheVolume(t *testing.T) {
	for name, c := range map[string]struct {
		is    func(*fixture)
		fault bool
	}{
		"no other one is left":   {func(s *fixture) { s.Replicas[1].Spec.FailedAt = early }, true},
		"another one is healthy": {func(*fixture) {}, false},
		"it is not to run": {func(s *fixture) {
			s.Replicas[1].Spec.FailedAt = early
			s.Replicas[0].Spec.DesireState = "stopped"
		}, false},
		"the volume is being detached": {func(s *fixture) { s.Replicas[1].Spec.FailedAt = early; s.Volume.Status.State = "detaching" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := again(t, "x", "y")
			r := s.Replicas[0]
			r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateError
			c.is(s)
			v := Decide(s.World)
			require.Equal(t, c.fault, v.Status["robustness"] == v1beta2.VolumeRobustnessFaulted)
			if c.fault {
				require.Equal(t, "The last healthy replica vol-r-0 could not start.",
					conditions.Get(v.Conditions, v1beta2.VolumeFaulted).Message)
				require.Nil(t, spec(v, r)["failedAt"], "it may have the only data")
			}
		})
	}
}

// A replica whose instance failed meanwhile may lack the last writes; one that was not to run lacks nothing.
func TestAReplicaWhoseInstanceFailedIsMarkedAtTheEnd(t *testing.T) {
	for _, wanted := range []string{v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped} {
		s := attached(v1beta2.DataEngineV1, "x", "y")
		stop(s.Engines[0])
		s.Volume.Spec.NodeID, s.Volume.Status.State = "", v1beta2.VolumeStateDetaching
		s.Replicas[1].Spec.DesireState, s.Replicas[1].Status.CurrentState = wanted, v1beta2.InstanceStateError
		v := Decide(s.World)
		require.Equal(t, wanted == v1beta2.InstanceStateRunning, spec(v, s.Replicas[1])["failedAt"] != nil)
		require.Nil(t, spec(v, s.Replicas[0])["failedAt"])
	}
}
