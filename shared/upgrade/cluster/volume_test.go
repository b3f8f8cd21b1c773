package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhichNodeHoldsAVolume(t *testing.T) {
	elsewhere := func(v *Volume) { v.Object.Status.CurrentNodeID = "b" }
	unset := func(v *Volume) { v.Object.Status.CurrentNodeID = "" }
	for sentence, c := range map[string]struct {
		volume             Volume
		attached, settling bool
		holder             string
	}{
		"attached":                           {volume(), true, false, "a"},
		"attached where it is not wanted":    {volume(elsewhere), true, false, "b"},
		"being attached to the wanted node":  {volume(unset, volumeState(v1beta2.VolumeStateAttaching)), false, true, "a"},
		"being detached":                     {volume(elsewhere, volumeState(v1beta2.VolumeStateDetaching)), false, true, "b"},
		"detached, whatever else is written": {volume(volumeState(v1beta2.VolumeStateDetached)), false, false, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.attached, c.volume.Attached(), "attached")
			require.Equal(t, c.settling, c.volume.Settling(), "settling")
			require.Equal(t, c.holder, c.volume.Holder())
		})
	}
}

func TestOnlyAnActiveEngineThatRunsServesAVolume(t *testing.T) {
	serves := engine("e-1", "b")
	beside := volume(engines(engine("e-0", "a", inactive), serves))
	require.Same(t, serves, beside.Active())
	require.True(t, beside.TargetOn("b"))
	require.False(t, beside.TargetOn("a"))
	for sentence, change := range map[string]func(*v1beta2.Engine){
		"not active": inactive, "stopped": stopped,
		"not seen": states(v1beta2.InstanceStateRunning, v1beta2.InstanceStateUnknown),
		"deleted":  func(e *v1beta2.Engine) { e.DeletionTimestamp = going },
	} {
		t.Run(sentence, func(t *testing.T) {
			v := volume(engines(engine("e-0", "a", change)))
			require.Nil(t, v.Active())
			require.False(t, v.TargetOn("a"))
		})
	}
}

// An instance that is not known to be stopped may still write.
func TestAnInstanceIsOnANodeWhileItIsWantedOrMayRun(t *testing.T) {
	for sentence, c := range map[string]struct {
		desired, current string
		on               bool
	}{
		"it is to run and does not yet": {v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped, true},
		"it is to run, without a state": {v1beta2.InstanceStateRunning, "", true},
		"it is to stop and runs":        {v1beta2.InstanceStateStopped, v1beta2.InstanceStateRunning, true},
		"it is to stop and is not seen": {v1beta2.InstanceStateStopped, v1beta2.InstanceStateUnknown, true},
		"it is stopped":                 {v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped, false},
		"it was never started":          {"", "", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			one := replica("r-x", "x", func(r *v1beta2.Replica) { r.Spec.DesireState, r.Status.CurrentState = c.desired, c.current })
			v := volume(engines(engine("e-0", "x", states(c.desired, c.current))), func(v *Volume) { v.Replicas = append(v.Replicas, one) })
			require.Equal(t, c.on, v.EngineOn("x"))
			require.Equal(t, c.on, len(v.ReplicasOn("x")) == 1)
			require.False(t, v.EngineOn("y"))
			require.Empty(t, v.ReplicasOn("y"))
		})
	}
}

func TestWhichNodesCarryAVolume(t *testing.T) {
	frontend := func(v *Volume) { v.Object.Status.CurrentNodeID = "x" }
	v := volume(frontend, engines(engine("e-0", "y")), func(v *Volume) { v.Replicas = []*v1beta2.Replica{replica("r", "z")} })
	require.True(t, v.On("x"), "its frontend")
	require.True(t, v.On("y"), "its engine")
	require.True(t, v.On("z"), "a replica")
	require.False(t, v.On("a"))
	for state, carries := range map[string]bool{v1beta2.VolumeStateAttaching: true, v1beta2.VolumeStateDetaching: true,
		v1beta2.VolumeStateDetached: false} {
		v.Object.Status.State = state
		require.Equal(t, carries, v.On("y"), state)
	}
}

func TestAReplicaIsFoundByItsName(t *testing.T) {
	v := volume()
	require.Same(t, v.Replicas[1], v.Replica("r-b"))
	require.Nil(t, v.Replica("r-c"))
}

// A replica that an engine still uses must not be taken away.
func TestWhetherAnEngineUsesAReplica(t *testing.T) {
	blank := func(e *v1beta2.Engine) { e.Spec.ReplicaAddressMap, e.Status.ReplicaModeMap = nil, nil }
	for sentence, c := range map[string]struct {
		engines []*v1beta2.Engine
		used    bool
	}{
		"it is in no map": {[]*v1beta2.Engine{engine("e-0", "a", blank)}, false},
		"it is wanted": {[]*v1beta2.Engine{engine("e-0", "a", blank,
			func(e *v1beta2.Engine) { e.Spec.ReplicaAddressMap = map[string]string{"r-a": ""} })}, true},
		"it was in use as of the last poll": {[]*v1beta2.Engine{engine("e-0", "a", blank,
			func(e *v1beta2.Engine) { e.Status.CurrentReplicaAddressMap = map[string]string{"r-a": ""} })}, true},
		"it has a mode": {[]*v1beta2.Engine{engine("e-0", "a", blank,
			func(e *v1beta2.Engine) { e.Status.ReplicaModeMap = map[string]string{"r-a": v1beta2.ReplicaModeERR} })}, true},
		"the engine is stopped":        {[]*v1beta2.Engine{engine("e-0", "a", stopped)}, false},
		"the second of two engines":    {[]*v1beta2.Engine{engine("e-0", "a", stopped), engine("e-1", "b", inactive)}, true},
		"of a volume without any part": {nil, false},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.used, volume(engines(c.engines...)).Mapped("r-a")) })
	}
}

func TestOnlyAHealthyVolumeIsHealthy(t *testing.T) {
	require.True(t, volume().Healthy())
	for _, robustness := range []string{v1beta2.VolumeRobustnessDegraded, v1beta2.VolumeRobustnessFaulted,
		v1beta2.VolumeRobustnessUnknown, ""} {
		require.False(t, volume(func(v *Volume) { v.Object.Status.Robustness = robustness }).Healthy(), robustness)
	}
}

func TestWhenATargetIsOnItsNodeForGood(t *testing.T) {
	target := func(node string) func(*Volume) { return func(v *Volume) { v.Object.Status.CurrentTargetNodeID = node } }
	left := func(changes ...func(*v1beta2.Engine)) func(*Volume) {
		return engines(engine("e-0", "a"), engine("e-1", "b", append(changes, inactive)...))
	}
	for sentence, c := range map[string]struct {
		volume Volume
		at     bool
	}{
		"the only engine, of a frontend that was never switched": {volume(), true},
		"the frontend was switched to it":                        {volume(target("a")), true},
		"the frontend leads elsewhere":                           {volume(target("b")), false},
		"the engine does not run":                                {volume(engines(engine("e-0", "a", stopped))), false},
		"the engine is elsewhere":                                {volume(engines(engine("e-0", "b"))), false},
		"another engine runs":                                    {volume(left()), false},
		"another engine is stopped and not removed yet":          {volume(left(stopped)), false},
		"another is to stop, on a node that is not reachable": {
			volume(left(states(v1beta2.InstanceStateStopped, v1beta2.InstanceStateUnknown))), true},
		"another is to run, on a node that is not reachable": {
			volume(left(states(v1beta2.InstanceStateRunning, v1beta2.InstanceStateUnknown))), false},
		"an active one is to stop, on a node that is not reachable": {volume(engines(engine("e-0", "a"),
			engine("e-1", "b", states(v1beta2.InstanceStateStopped, v1beta2.InstanceStateUnknown)))), false},
		"another on the same node": {volume(engines(engine("e-0", "a"), engine("e-1", "a", inactive))), true},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.at, c.volume.At("a")) })
	}
}

func TestAtItsOriginalNodeMeansThatNoOtherIsWanted(t *testing.T) {
	require.True(t, volume().AtOriginalNode())
	require.False(t, volume(func(v *Volume) { v.Object.Spec.TargetNodeID = "a" }).AtOriginalNode())
	require.False(t, volume(func(v *Volume) { v.Object.Status.CurrentNodeID = "b" }).AtOriginalNode())
}

func TestWhenAVolumeOfAnotherNodeHasLeftThisOne(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*Volume)
		left   bool
	}{
		"its engine is where it is attached":      {func(*Volume) {}, true},
		"its frontend leads there":                {func(v *Volume) { v.Object.Status.CurrentTargetNodeID = "a" }, true},
		"whether it serves there does not matter": {engines(engine("e-0", "a", stopped)), true},
		"its frontend leads elsewhere":            {func(v *Volume) { v.Object.Status.CurrentTargetNodeID = "c" }, false},
		"another target is wanted":                {func(v *Volume) { v.Object.Spec.TargetNodeID = "a" }, false},
		"an engine is still here":                 {engines(engine("e-0", "a"), engine("e-1", "b", inactive)), false},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.left, volume(c.change).Left("b")) })
	}
}

func TestAPollCountsFromItsTimeOn(t *testing.T) {
	since := time.Date(2026, 1, 1, 12, 0, 0, 500, time.UTC)
	for sentence, c := range map[string]struct {
		at     string
		counts bool
	}{
		"the same moment":             {"2026-01-01T12:00:00.0000005Z", true},
		"later":                       {"2026-01-01T12:00:01Z", true},
		"less than a second too soon": {"2026-01-01T12:00:00Z", false},
		"in another time zone":        {"2026-01-01T14:00:01+02:00", true},
		"no time":                     {"", false},
		"an invalid one":              {"noon", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.counts, volume(engines(engine("e-0", "a", func(e *v1beta2.Engine) { e.Status.LookedAt = c.at }))).PolledSince(since))
			require.Equal(t, c.counts, volume(engines(engine("e-0", "a",
				func(e *v1beta2.Engine) { e.Spec.LookRequestedAt = c.at }))).PollRequested(since))
		})
	}
	stale := volume(engines(engine("e-0", "a", stopped, func(e *v1beta2.Engine) {
		e.Status.LookedAt, e.Spec.LookRequestedAt = "2026-01-02T12:00:00Z", "2026-01-02T12:00:00Z"
	})))
	require.False(t, stale.PolledSince(since), "an engine that does not run is not polled")
	require.False(t, stale.PollRequested(since))
}

func rebuilding(progress int) func(*Volume) {
	return engines(engine("e-0", "a", func(e *v1beta2.Engine) {
		e.Status.ReplicaModeMap["r-b"] = v1beta2.ReplicaModeWO
		e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://10.0.0.2:20000": {Progress: progress}}
	}))
}

func TestARebuildHasItsLastPerCentWhenTheEngineReadsTheReplica(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*Volume)
		want   int
	}{
		"the engine reads it":      {func(*Volume) {}, 100},
		"under way":                {rebuilding(42), 42},
		"copied, and not read yet": {rebuilding(100), 99},
		"a progress that is none":  {rebuilding(-1), 0},
		"no engine runs":           {engines(engine("e-0", "a", stopped)), 0},
		"the engine that serves counts, no other": {engines(engine("e-0", "a", inactive,
			func(e *v1beta2.Engine) { e.Status.ReplicaModeMap = nil }),
			engine("e-1", "b")), 100},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := volume(c.change)
			require.Equal(t, c.want, v.Rebuilt(v.Replica("r-b")))
		})
	}
	v := volume(rebuilding(42))
	require.Zero(t, v.Rebuilt(replica("r-c", "c")), "another's progress is not that of a replica without an address")
}

func TestTheRebuildOfAVolumeIsThatOfAllReplicasThatItWants(t *testing.T) {
	wants := func(number int) func(*Volume) { return func(v *Volume) { v.Object.Spec.NumberOfReplicas = number } }
	for sentence, c := range map[string]struct {
		volume        Volume
		sum, replicas int
	}{
		"as many as it wants":           {volume(), 200, 2},
		"one is being rebuilt":          {volume(rebuilding(42)), 142, 2},
		"one is not there yet":          {volume(wants(3)), 200, 3},
		"one more than it wants":        {volume(wants(1)), 200, 2},
		"none at all is not divided by": {volume(wants(0), func(v *Volume) { v.Replicas = nil }), 0, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			sum, replicas := c.volume.RebuiltInAll()
			require.Equal(t, []int{c.sum, c.replicas}, []int{sum, replicas})
		})
	}
}
