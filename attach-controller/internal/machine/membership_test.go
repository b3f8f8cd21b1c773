package machine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// added is a volume that is attached, with an empty replica that was placed since.
func added(node string) (*fixture, *v1beta2.Replica) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	name := fmt.Sprintf("vol-r-%d", len(s.Replicas))
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: v1beta2.ReplicaSpec{
		VolumeName: "vol", NodeID: node, EngineName: "vol-e-0", VolumeSize: 1 << 30, DesireState: v1beta2.InstanceStateStopped}}
	s.Replicas = append(s.Replicas, r)
	return s, r
}

func run(r *v1beta2.Replica) {
	r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
	r.Status.StorageIP, r.Status.Port = "ip-z", 10003
}

func TestAnAddedReplicaIsStartedAndThenGivenToTheEngine(t *testing.T) {
	for name, one := range map[string]struct {
		is      func(*fixture, *v1beta2.Replica)
		replica map[string]any
		engine  map[string]any
	}{
		"stopped": {func(*fixture, *v1beta2.Replica) {}, map[string]any{"desireState": "running"}, nil},
		"starting": {func(_ *fixture, r *v1beta2.Replica) {
			r.Spec.DesireState, r.Status.CurrentState = "running", v1beta2.InstanceStateStarting
		}, nil, nil},
		"running": {func(_ *fixture, r *v1beta2.Replica) { run(r) }, nil,
			map[string]any{"replicaAddressMap": map[string]any{"vol-r-2": "ip-z:10003"}}},
		"running without a port": {func(_ *fixture, r *v1beta2.Replica) {
			run(r)
			r.Status.Port = 0
		}, nil, nil},
		"still listed as what it was before": {func(s *fixture, r *v1beta2.Replica) {
			run(r)
			s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
		}, nil, nil},
		"taken for healthy": {func(_ *fixture, r *v1beta2.Replica) {
			run(r)
			r.Spec.HealthyAt = "2026-01-01T00:00:00Z"
		}, map[string]any{"healthyAt": ""}, nil},
		"on a node that is down": {func(s *fixture, _ *v1beta2.Replica) { s.Nodes["z"] = Node{Known: true, Down: true} }, nil, nil},
		"placed nowhere":         {func(_ *fixture, r *v1beta2.Replica) { r.Spec.NodeID = "" }, nil, nil},
		"unknown": {func(_ *fixture, r *v1beta2.Replica) {
			run(r)
			r.Status.CurrentState = v1beta2.InstanceStateUnknown
		}, nil, nil},
		"being deleted": {func(_ *fixture, r *v1beta2.Replica) {
			run(r)
			deleted(r)
		}, map[string]any{"desireState": "stopped"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := added("z")
			one.is(s, r)
			verdict := Decide(s.World)
			check := func(o metav1.Object, want map[string]any) {
				if want == nil {
					untouched(t, verdict, o)
					return
				}
				require.Equal(t, want, writeOf(t, verdict, o).Spec)
			}
			check(r, one.replica)
			check(s.Engines[0], one.engine)
		})
	}
}

func TestAReplicaIsHealthyWhenTheEngineReportsRW(t *testing.T) {
	s, r := added("z")
	run(r)
	s.Engines[0].Spec.ReplicaAddressMap[r.Name] = "ip-z:10003"
	s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeWO
	untouched(t, Decide(s.World), r)
	s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeRW
	w := writeOf(t, Decide(s.World), r)
	require.NotEmpty(t, w.Spec["healthyAt"])
	require.Equal(t, w.Spec["healthyAt"], w.Spec["lastHealthyAt"])
	require.Equal(t, EventRebuilt, w.Events[0].Reason)
}

func TestARebuildThatTheEngineDropsHasFailed(t *testing.T) {
	s, r := added("z")
	run(r)
	s.Engines[0].Spec.ReplicaAddressMap[r.Name] = "ip-z:10003"
	s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
	verdict := Decide(s.World)
	w := writeOf(t, verdict, r)
	require.NotEmpty(t, w.Spec["failedAt"])
	require.Equal(t, v1beta2.InstanceStateStopped, w.Spec["desireState"])
	require.Equal(t, map[string]any{r.Name: nil}, writeOf(t, verdict, s.Engines[0]).Spec["replicaAddressMap"])
}

// UPG-1, A15b: of two that go at once, one stays while it is the last.
func TestOfReplicasThatAreDeletedAtOnceTheLastOneStays(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	deleted(s.Replicas[0])
	deleted(s.Replicas[1])
	for range 5 {
		s.step()
	}
	require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State)
	require.NotEmpty(t, s.Engines[0].Spec.ReplicaAddressMap)
}

func TestAReplicaThatIsNoMoreLeavesTheEngine(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Replicas = s.Replicas[:1]
	require.Equal(t, map[string]any{"vol-r-1": nil}, writeOf(t, Decide(s.World), s.Engines[0]).Spec["replicaAddressMap"])
	s.Replicas = nil
	untouched(t, Decide(s.World), s.Engines[0])
}

// A migration shares the replicas between two engines: they stay as they are until it ends.
func TestNothingJoinsWhileTheVolumeMigrates(t *testing.T) {
	s, r := added("z")
	run(r)
	s.Volume.Spec.MigrationNodeID = "y"
	for range 10 {
		s.step()
		s.imMonitor()
	}
	require.NotContains(t, s.Engines[0].Spec.ReplicaAddressMap, r.Name)
	require.NotContains(t, s.Engines[1].Spec.ReplicaAddressMap, r.Name)
}

func TestAReplicaThatCannotStartToBeRebuiltHasFailed(t *testing.T) {
	s, r := added("z")
	r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateError
	w := writeOf(t, Decide(s.World), r)
	require.NotEmpty(t, w.Spec["failedAt"])
	require.Equal(t, v1beta2.InstanceStateStopped, w.Spec["desireState"])
	require.Equal(t, EventReplicaFailed, w.Events[0].Reason)
}

// UPG-1: an emptied map of the engine does not make the copies that it serves from count as empty.
func TestAnEngineWhoseMapWasEmptiedKeepsItsReplicas(t *testing.T) {
	for name, left := range map[string]map[string]string{"empty": {}, "nil": nil, "only one that has no data": {"vol-r-2": "ip-z:10000"}} {
		t.Run(name, func(t *testing.T) {
			s, r := added("z")
			run(r)
			e := s.Engines[0]
			whole := e.Spec.ReplicaAddressMap
			e.Spec.ReplicaAddressMap = left
			if len(left) > 0 {
				e.Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeWO
			}
			verdict := Decide(s.World)
			for _, healthy := range s.Replicas[:2] {
				untouched(t, verdict, healthy)
			}
			require.NotEqual(t, v1beta2.VolumeRobustnessFaulted, verdict.Status["robustness"])
			s.step()
			for name, where := range whole {
				require.Equal(t, where, e.Spec.ReplicaAddressMap[name])
			}
			require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State)
		})
	}
}

// With a good one in the map, the engine lets go what it was not given: that has to be rebuilt.
func TestAReplicaThatWasTakenOutOfTheMapIsRebuilt(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	delete(s.Engines[0].Spec.ReplicaAddressMap, "vol-r-1")
	verdict := Decide(s.World)
	require.Equal(t, map[string]any{"healthyAt": ""}, writeOf(t, verdict, s.Replicas[1]).Spec)
	untouched(t, verdict, s.Engines[0])
}

// healthyAt follows what the engine reports, and a salvage ends once its replica serves.
func TestTheModeThatTheEngineReportsIsRecorded(t *testing.T) {
	const before = "2025-12-31T00:00:00Z"
	for name, c := range map[string]struct {
		healthyAt, mode string
		salvaged        bool
		want            map[string]any
	}{
		"healthy":                 {before, v1beta2.ReplicaModeRW, false, nil},
		"salvaged, and healthy":   {before, v1beta2.ReplicaModeRW, true, map[string]any{"salvageRequested": false}},
		"salvaged, and rebuilt":   {"", v1beta2.ReplicaModeRW, true, map[string]any{"salvageRequested": false, "healthyAt": "now"}},
		"it is rebuilt again":     {before, v1beta2.ReplicaModeWO, false, map[string]any{"healthyAt": ""}},
		"it is still rebuilt":     {"", v1beta2.ReplicaModeWO, true, nil},
		"no mode is reported yet": {before, "", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			r := s.Replicas[1]
			r.Spec.HealthyAt, r.Spec.SalvageRequested = c.healthyAt, c.salvaged
			s.Engines[0].Status.ReplicaModeMap[r.Name] = c.mode
			if c.want["healthyAt"] == "now" {
				c.want["healthyAt"], c.want["lastHealthyAt"] = stamp(s.Now), stamp(s.Now)
			}
			if c.want == nil {
				untouched(t, Decide(s.World), r)
				return
			}
			require.Equal(t, c.want, writeOf(t, Decide(s.World), r).Spec)
		})
	}
}

// UPG-1: one that leaves runs until the engine no longer lists it, and is taken back if the other one is lost meanwhile.
func TestAReplicaLeavesItsEngineStepByStep(t *testing.T) {
	const r1 = "vol-r-1"
	unmapped := func(e *v1beta2.Engine) { delete(e.Spec.ReplicaAddressMap, r1) }
	for name, c := range map[string]struct {
		is      func(*v1beta2.Engine)
		engine  any
		stopped bool
	}{
		"it leaves the engine's spec":     {func(*v1beta2.Engine) {}, map[string]any{r1: nil}, false},
		"not before the engine is polled": {func(e *v1beta2.Engine) { e.Spec.LookRequestedAt, e.Status.LookedAt = "", "" }, nil, false},
		"not while it is the last one":    {func(e *v1beta2.Engine) { e.Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeWO }, nil, false},
		"the engine still lists it":       {unmapped, nil, false},
		"the other one is lost": {func(e *v1beta2.Engine) { unmapped(e); e.Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeWO },
			map[string]any{r1: "ip-y:10000"}, false},
		"the engine has let it go": {func(e *v1beta2.Engine) { unmapped(e); delete(e.Status.ReplicaModeMap, r1) }, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			e := s.Engines[0]
			e.Spec.LookRequestedAt, e.Status.LookedAt = stamp(s.Now), stamp(s.Now)
			deleted(s.Replicas[1])
			c.is(e)
			v := Decide(s.World)
			require.Equal(t, c.engine, spec(v, e)["replicaAddressMap"])
			require.Equal(t, c.stopped, spec(v, s.Replicas[1])["desireState"] == v1beta2.InstanceStateStopped)
		})
	}
}
