package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	early = "2025-12-31T00:00:00Z"
	late  = "2025-12-31T12:00:00Z"
	soon  = "2025-12-31T12:00:01Z"
)

// faulted is detached, and faulted since the start of the test; its replicas failed at the given times.
func faulted(t *testing.T, times ...string) *fixture {
	t.Helper()
	s := newFixture(v1beta2.DataEngineV1, []string{"x", "y", "z"}[:len(times)]...)
	require.True(t, s.settle())
	s.Volume.Status.State, s.Volume.Status.Robustness = v1beta2.VolumeStateDetached, v1beta2.VolumeRobustnessFaulted
	s.Volume.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeFaulted, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonFaulted, LastTransitionTime: stamp(s.Now)}}
	for i, at := range times {
		s.Replicas[i].Spec.FailedAt, s.Replicas[i].Spec.LastFailedAt = at, at
		s.Replicas[i].Spec.HealthyAt, s.Replicas[i].Spec.LastHealthyAt = early, early
	}
	return s
}

func salvaged(verdict Verdict) []string {
	var out []string
	for _, w := range verdict.Writes {
		if at, ok := w.Spec["failedAt"]; ok && at == "" {
			out = append(out, w.Object.GetName())
		}
	}
	return out
}

func TestSalvageTakesWhatFailedLastAndCanBeReached(t *testing.T) {
	for name, one := range map[string]struct {
		times []string
		is    func(*fixture)
		taken []string
		says  string
	}{
		"the latest":                 {[]string{early, late}, nil, []string{"vol-r-1"}, ""},
		"those that failed together": {[]string{late, soon}, nil, []string{"vol-r-0", "vol-r-1"}, ""},
		"not one that has older data": {[]string{early, late}, func(s *fixture) { s.Nodes["y"] = Node{Known: true, Down: true} }, nil,
			"bring their nodes back"},
		"one of those that are latest": {[]string{late, soon}, func(s *fixture) { s.Nodes["y"] = Node{Known: true, Down: true} },
			[]string{"vol-r-0"}, ""},
		"not one that may still run": {[]string{late}, func(s *fixture) {
			s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateUnknown
		}, nil, "must stop"},
		"not one that never had the data": {[]string{early, late}, func(s *fixture) {
			s.Replicas[1].Spec.HealthyAt, s.Replicas[1].Spec.LastHealthyAt = "", ""
		}, []string{"vol-r-0"}, ""},
		"not one whose rebuild failed": {[]string{early, late}, func(s *fixture) { s.Replicas[1].Spec.HealthyAt = "" },
			[]string{"vol-r-0"}, ""},
		"not one that is being deleted": {[]string{early, late}, func(s *fixture) { deleted(s.Replicas[1]) },
			[]string{"vol-r-0"}, ""},
		"not one whose mark is no time": {[]string{early, "yesterday"}, nil, []string{"vol-r-0"}, ""},
		"nothing where a person chooses": {[]string{early, late}, func(s *fixture) { s.Settings.AutoSalvage = false }, nil,
			"auto-salvage"},
		"nothing while a healthy one is out of reach": {[]string{"", late},
			func(s *fixture) { s.Nodes["x"] = Node{Known: true, Down: true} }, nil, "vol-r-0 on x"},
		"nothing before the volume is let go": {[]string{late}, func(s *fixture) { s.Volume.Spec.NodeID = "x" }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := faulted(t, one.times...)
			if one.is != nil {
				one.is(s)
			}
			verdict := Decide(s.World)
			require.Equal(t, one.taken, salvaged(verdict))
			if len(one.taken) == 0 {
				require.NotContains(t, verdict.Status, "robustness")
				require.Contains(t, conditions.Get(verdict.Conditions, v1beta2.VolumeAttached).Message, one.says)
				require.Zero(t, verdict.RequeueAt)
				return
			}
			require.Equal(t, v1beta2.VolumeRobustnessUnknown, verdict.Status["robustness"])
			require.Equal(t, stamp(s.Now), verdict.Status["lastAutoSalvagedAt"])
			require.Equal(t, stamp(s.Now), verdict.Status["remountRequestedAt"])
		})
	}
}

// The condition Attached reports what is waited for first, Faulted what must end for the volume to be used again.
func TestTheFaultedConditionReportsWhatSalvageWaitsFor(t *testing.T) {
	s := faulted(t, late)
	s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateUnknown
	verdict := Decide(s.World)
	require.Contains(t, waitsFor(verdict), "must stop")
	require.Contains(t, conditions.Get(verdict.Conditions, v1beta2.VolumeFaulted).Message, "bring their nodes back")
	s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateStopped
	s.Settings.AutoSalvage = false
	verdict = Decide(s.World)
	require.Equal(t, waitsFor(verdict), conditions.Get(verdict.Conditions, v1beta2.VolumeFaulted).Message)
}

// An engine that fails each time is not started without a pause.
func TestAVolumeWhoseReplicasAreFineIsTriedAgainAfterAPause(t *testing.T) {
	s := faulted(t, "", late)
	verdict := Decide(s.World)
	require.Equal(t, s.Now.Add(faultPause.First), verdict.RequeueAt)
	require.Empty(t, verdict.Status)
	s.Now = verdict.RequeueAt.Add(-time.Millisecond)
	require.Equal(t, verdict.RequeueAt, Decide(s.World).RequeueAt)
	s.Now = verdict.RequeueAt
	verdict = Decide(s.World)
	require.Zero(t, verdict.RequeueAt)
	require.Equal(t, v1beta2.VolumeRobustnessUnknown, verdict.Status["robustness"])
	require.Equal(t, stamp(s.Now), verdict.Status["remountRequestedAt"])
	require.NotContains(t, verdict.Status, "lastAutoSalvagedAt")
	require.Empty(t, verdict.Writes)
}

// B7: an engine that fails each time was started 200 times in half an hour. The count is stored with the volume: an engine that is created
// again, and a new leader, count on.
func TestAVolumeThatFailsEachTimeIsAttachedEverMoreRarely(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	var starts []time.Time
	end := s.Now.Add(30 * time.Minute)
	for s.Now.Before(end) {
		e := s.Engines[0]
		if e.Spec.DesireState == v1beta2.InstanceStateRunning && e.Status.CurrentState != v1beta2.InstanceStateError {
			starts = append(starts, s.Now)
			e.Status.CurrentState = v1beta2.InstanceStateError
		}
		if e.Spec.DesireState == v1beta2.InstanceStateStopped {
			e.Status.CurrentState = v1beta2.InstanceStateStopped
		}
		for _, r := range s.Replicas {
			r.Status.CurrentState = r.Spec.DesireState
		}
		s.Volume.Spec.NodeID = "x"
		if s.Volume.Status.Robustness == v1beta2.VolumeRobustnessFaulted { // as its tickets see to
			s.Volume.Spec.NodeID = ""
		}
		s.step()
		s.Now = s.Now.Add(time.Second)
	}
	require.GreaterOrEqual(t, len(starts), 5)
	require.LessOrEqual(t, len(starts), 14)
	require.Equal(t, len(starts), s.Volume.Status.Faults.Count)
	require.Contains(t, conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeFaulted).Message, " times in a row.")
}

func TestAVolumeThatWorkedForLongFailsForTheFirstTimeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		since time.Duration
		want  int
	}{"right after its pause": {6 * time.Minute, 8}, "after it worked": {faultPause.Longest + worksAfter, 1}} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Status.Faults = &v1beta2.VolumeFaults{Count: 7, LastFailedAt: stamp(s.Now.Add(-c.since))}
			s.Engines[0].Status.CurrentState = v1beta2.InstanceStateError
			require.Equal(t, c.want, Decide(s.World).Status["faults"].(*v1beta2.VolumeFaults).Count)
		})
	}
}
