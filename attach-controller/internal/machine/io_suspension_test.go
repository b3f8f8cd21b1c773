package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// down is a volume on x whose target is on y, which is down, and is wanted on z. The copy on x is out, as in an upgrade of x.
func down(t require.TestingT) *fixture {
	s := moved(t, "x", "y", "z")
	out := s.Replicas[0]
	out.Spec.FailedAt, out.Spec.DesireState = stamp(s.Now), v1beta2.InstanceStateStopped
	delete(s.engineOn("y").Spec.ReplicaAddressMap, out.Name)
	require.True(t, s.settle(), "%s", s)
	s.Nodes["y"] = Node{Known: true, Down: true}
	s.Volume.Spec.TargetNodeID = "z"
	return s
}

// round lets everybody act once.
func (s *fixture) round() {
	s.step()
	s.imMonitor()
	s.Now = s.Now.Add(time.Second)
}

// rounds lets everybody act until it is so.
func (s *fixture) rounds(t require.TestingT, until func() bool, what string) {
	for range 60 {
		if until() {
			return
		}
		s.round()
	}
	require.Fail(t, "never: "+what, "%s", s)
}

// back marks the node of the target as up again, with the modes that its engine reports now.
func (s *fixture) back(modes map[string]string) {
	s.Nodes["y"] = Node{Known: true}
	e := s.engineOn("y")
	e.Status.CurrentState, e.Status.ReplicaModeMap = v1beta2.InstanceStateRunning, modes
}

func (s *fixture) holds() bool {
	f := s.Frontends[0]
	return f.Status.CurrentState == v1beta2.InstanceStateSuspended && f.Status.SuspendedAt == f.Spec.SuspendRequestedAt
}

func (s *fixture) goesOn() bool {
	f := s.Frontends[0]
	return f.Status.CurrentState == v1beta2.InstanceStateRunning && f.Spec.SuspendRequestedAt == ""
}

var alone = map[string]string{"vol-r-1": v1beta2.ReplicaModeRW, "vol-r-2": v1beta2.ReplicaModeERR}

// UPG-1: all I/O is suspended before a fail-over is decided, and until it leads to the next target.
func TestATargetAcknowledgesNothingDuringFailOver(t *testing.T) {
	s := down(t)
	said := map[string]bool{}
	s.rounds(t, func() bool {
		for _, w := range Decide(s.World).Writes {
			for _, h := range w.Events {
				said[h.Reason] = true
			}
		}
		left := !leadsTo(s.Frontends[0], s.engineOn("y"))
		if concluded := s.Replicas[1].Spec.FailedAt != "" || len(s.Engines) > 1 || s.Frontends[0].Spec.EngineName != "vol-e-1"; concluded &&
			!left {
			require.True(t, s.holds(), "%s", s)
		}
		return s.goesOn() && len(s.Engines) == 2 && left
	}, "I/O resumes to the next target")
	require.True(t, leadsTo(s.Frontends[0], s.engineOn("z")), "%s", s)
	require.NotEmpty(t, s.Replicas[1].Spec.FailedAt)
	require.Contains(t, said, EventIOHeld)
	require.Contains(t, said, EventIOGoesOn)
	oneWay := s.Volume.Status.Conditions[0]
	require.NotContains(t, oneWay.Message, "All I/O is suspended", "%s", oneWay.Message)
}

func TestTheConditionExplainsSuspendedIO(t *testing.T) {
	s := down(t)
	s.step()
	require.Contains(t, s.Volume.Status.Conditions[0].Message,
		"All I/O is being suspended: node y is down, and the volume fails over from the target there; the suspension is being requested.")
	s.imMonitor()
	s.step()
	s.imMonitor()
	s.step()
	require.Contains(t, s.Volume.Status.Conditions[0].Message, "the target is polled once more")
}

// The target has answerWithin to answer from when all I/O is suspended, not from when that was requested.
func TestATargetHasTimeToAnswerOnceTheIOIsSuspended(t *testing.T) {
	s := down(t)
	s.step()
	s.Now = s.Now.Add(time.Hour) // the frontend's instance manager was not reachable
	s.step()
	require.Empty(t, s.Replicas[1].Spec.FailedAt)
	s.imMonitor()
	s.Now = s.Now.Add(time.Hour)
	s.step()
	s.imMonitor()
	asked := s.Now
	require.Equal(t, asked.UTC().Format(time.RFC3339Nano), s.engineOn("y").Spec.LookRequestedAt)
	s.Now = s.Now.Add(answerWithin - time.Second)
	verdict := Decide(s.World)
	require.Empty(t, verdict.Writes)
	require.Equal(t, asked.Add(answerWithin), verdict.RequeueAt)
	s.Now = asked.Add(answerWithin)
	verdict = Decide(s.World)
	require.True(t, verdict.Fresh && verdict.FreshFrontends)
	require.NotEmpty(t, writeOf(t, verdict, s.Replicas[1]).Spec["failedAt"])
}

// The node is back before the cut was proven, or before the frontend has left: the target is the volume's again, with all that it
// acknowledged.
func TestATargetThatIsBackBeforeTheFrontendHasLeftIsTakenBack(t *testing.T) {
	for name, until := range map[string]func(*fixture) bool{
		"asked":     func(s *fixture) bool { return s.Frontends[0].Spec.SuspendRequestedAt != "" },
		"suspended": func(s *fixture) bool { return s.holds() },
		"marked":    func(s *fixture) bool { return s.Replicas[1].Spec.FailedAt != "" },
		"created":   func(s *fixture) bool { return len(s.Engines) == 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := down(t)
			for !until(s) {
				s.step()
				if !until(s) {
					s.imMonitor()
				}
				s.Now = s.Now.Add(time.Second)
			}
			s.back(alone)
			s.Volume.Spec.TargetNodeID = "y"
			s.rounds(t, func() bool { return s.goesOn() && len(s.Engines) == 1 }, "I/O resumes to the same target")
			require.True(t, leadsTo(s.Frontends[0], s.engineOn("y")), "%s", s)
			require.Empty(t, s.Replicas[1].Spec.FailedAt, "%s", s)
			s.round()
			require.NotEmpty(t, s.Replicas[2].Spec.FailedAt, "%s", s)
		})
	}
}

// A target that is back after the frontend was ordered to leave acknowledges nothing: the frontend leaves or switches back, but with all
// I/O suspended.
func TestATargetThatIsBackWhenTheFrontendLeavesStaysFenced(t *testing.T) {
	s := down(t)
	for s.Frontends[0].Spec.EngineName != "vol-e-2" {
		s.step()
		if s.Frontends[0].Spec.EngineName != "vol-e-2" {
			s.imMonitor()
		}
		s.Now = s.Now.Add(time.Second)
	}
	s.back(alone)
	s.step()
	require.Equal(t, "vol-e-2", s.Frontends[0].Spec.EngineName, "it gets no other order before it reported the result:\n%s", s)
	s.rounds(t, func() bool {
		left := leadsTo(s.Frontends[0], s.engineOn("z"))
		require.True(t, left || s.holds() || !answered(s.Frontends[0]), "%s", s)
		return s.goesOn() && left
	}, "I/O resumes to the next target")
	require.NotEmpty(t, s.Replicas[1].Spec.LastFailedAt)
	require.Empty(t, s.Replicas[2].Spec.FailedAt, "%s", s)
}

// I/O does not resume before the only replica with all data counts as healthy again, nor before the engine was polled.
func TestIOResumesOnlyToACountedReplica(t *testing.T) {
	s := down(t)
	s.rounds(t, func() bool { return s.Replicas[1].Spec.FailedAt != "" }, "marked")
	s.back(alone)
	s.Engines[0].Status.LookedAt = ""
	for range 10 {
		s.step()
		if s.Frontends[0].Spec.SuspendRequestedAt == "" {
			require.Empty(t, s.Replicas[1].Spec.FailedAt, "%s", s)
			require.NotEmpty(t, s.Engines[0].Status.LookedAt)
		}
		s.imMonitor()
		s.Now = s.Now.Add(time.Second)
	}
}

// A node that only Kubernetes misses: its target answers, and its word decides.
func TestATargetThatAnswersAfterTheCutIsBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		modes map[string]string
		moves bool
	}{
		"the others are good in it": {map[string]string{"vol-r-1": v1beta2.ReplicaModeRW, "vol-r-2": v1beta2.ReplicaModeRW}, true},
		"it alone has it all":       {alone, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := down(t)
			e := s.engineOn("y")
			for range 30 {
				s.step()
				s.imMonitor()
				if s.holds() { // no poll before
					e.Status.LookedAt, e.Status.ReplicaModeMap = e.Spec.LookRequestedAt, c.modes
				}
				s.Now = s.Now.Add(100 * time.Millisecond) // it is far from gone
			}
			require.True(t, s.goesOn(), "%s", s)
			require.Equal(t, c.moves, s.Replicas[1].Spec.FailedAt != "", "%s", s)
			require.Equal(t, !c.moves, leadsTo(s.Frontends[0], e), "%s", s)
		})
	}
}

func TestIOIsNotSuspendedWithoutASuccessor(t *testing.T) {
	s := down(t)
	s.Replicas[2].Status.CurrentState = v1beta2.InstanceStateUnknown
	for range 5 {
		s.step()
		s.Now = s.Now.Add(time.Second)
	}
	require.Empty(t, s.Frontends[0].Spec.SuspendRequestedAt, "%s", s)
	s = down(t)
	s.Nodes["z"] = Node{Known: true, Down: true}
	for range 5 {
		s.round()
	}
	require.Empty(t, s.Frontends[0].Spec.SuspendRequestedAt, "%s", s)
}

// When the fail-over becomes impossible, and nothing was concluded, I/O resumes: the target may serve although Kubernetes misses its node.
func TestIOResumesWhenTheFailOverBecomesImpossible(t *testing.T) {
	s := down(t)
	s.rounds(t, s.holds, "suspended")
	s.Nodes["z"] = Node{Known: true, Down: true}
	s.rounds(t, s.goesOn, "I/O resumes")
	require.Empty(t, s.Replicas[1].Spec.FailedAt)
}

func TestALostSuspensionIsRequestedAgain(t *testing.T) {
	s := down(t)
	s.rounds(t, func() bool {
		return s.holds() && s.engineOn("y").Spec.LookRequestedAt == s.Frontends[0].Spec.SuspendRequestedAt
	}, "suspended and polled")
	lost := s.Frontends[0].Spec.SuspendRequestedAt
	s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateRunning
	s.Now = s.Now.Add(2 * answerWithin)
	s.step()
	require.NotEqual(t, lost, s.Frontends[0].Spec.SuspendRequestedAt)
	require.Empty(t, s.Replicas[1].Spec.FailedAt)
	require.Len(t, s.Engines, 1)
}

func TestAVolumeThatIsAttachedAgainSuspendsNothing(t *testing.T) {
	s := down(t)
	s.rounds(t, s.holds, "suspended")
	s.Volume.Spec.NodeID = ""
	s.Nodes["y"] = Node{Known: true}
	s.rounds(t, func() bool { return s.Volume.Status.State == v1beta2.VolumeStateDetached }, "detached")
	s.Volume.Spec.NodeID = "x"
	s.rounds(t, func() bool { return s.Volume.Status.State == v1beta2.VolumeStateAttached }, "attached")
	require.True(t, s.goesOn(), "%s", s)
}

// In any order of failures: the frontend is ordered to leave an unreachable target only while it suspends I/O, it never suspends for ever,
// and every crash is recovered from.
func TestAFrontendLeavesAnUnreachableTargetOnlyWhileSuspended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := down(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0:
				s.Nodes["y"] = Node{Known: true, Down: !s.Nodes["y"].Down}
			case 1:
				s.Volume.Spec.TargetNodeID = rapid.SampledFrom([]string{"", "y", "z"}).Draw(t, "target")
			case 2:
				s.Now = s.Now.Add(answerWithin)
			case 3: // the server of the frontend restarts
				if s.Frontends[0].Status.CurrentState == v1beta2.InstanceStateSuspended {
					s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateRunning
				}
			case 4, 5, 6:
				s.imMonitor()
			default:
				s.stepSeen(t)
			}
			s.Now = s.Now.Add(time.Second)
			require.True(t, hasWay(s), "%s", s)
		}
		s.Nodes["y"], s.Volume.Spec.TargetNodeID = Node{Known: true}, "z"
		s.rounds(t, func() bool { return s.goesOn() && len(s.Engines) == 1 && s.Engines[0].Spec.NodeID == "z" }, "it settles")
	})
}

// stepSeen decides, and compares the frontend's order with the reachable instances.
func (s *fixture) stepSeen(t *rapid.T) {
	facts := factsOf(&s.World)
	verdict := Decide(s.World)
	one := findWrite(verdict, s.Frontends[0])
	if one != nil && one.Spec["engineName"] != nil && one.Spec["engineName"] != facts.engine.Name && !facts.engineRuns() &&
		ofEngine(facts.engine).state != v1beta2.InstanceStateError {
		require.True(t, s.holds(), "%s", s)
	}
	if one != nil && one.Spec["suspendRequestedAt"] == "" {
		require.True(t, leadsTo(s.Frontends[0], facts.engine) && s.Frontends[0].Spec.EngineName == facts.engine.Name, "%s", s)
	}
	s.step()
}

// UPG-1: an engine that is ready takes over from one that is out of reach only once that acknowledges no more.
func TestAMoveUnderWaySuspendsItsIOWhenTheFirstEngineIsLost(t *testing.T) {
	s := moved(t, "x", "y", "z")
	s.Volume.Spec.TargetNodeID = "z"
	for len(s.Engines) < 2 {
		s.step()
		s.imMonitor()
	}
	s.imMonitor()
	s.Nodes["y"] = Node{Known: true, Down: true}
	delete(s.engineOn("z").Spec.ReplicaAddressMap, "vol-r-1")
	delete(s.engineOn("z").Status.ReplicaModeMap, "vol-r-1")
	w := writeOf(t, Decide(s.World), s.Frontends[0])
	require.NotEmpty(t, w.Spec["suspendRequestedAt"])
	require.NotContains(t, w.Spec, "engineName")
	require.Equal(t, EventIOHeld, w.Events[0].Reason)
}

func TestAFrontendThatRestartsSuspendsNothing(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	s.Frontends[0].Spec.DesireState, s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	s.Frontends[0].Spec.SuspendRequestedAt = stamp(s.Now)
	w := writeOf(t, Decide(s.World), s.Frontends[0])
	require.Equal(t, v1beta2.InstanceStateRunning, w.Spec["desireState"])
	require.Equal(t, "", w.Spec["suspendRequestedAt"])
}

// UPG-1: what is written from then on must be in the replicas that count.
func TestSuspendedIOResumesOnlyOnceNothingIsDoubtful(t *testing.T) {
	for name, c := range map[string]struct {
		is    func(*fixture, *v1beta2.EngineFrontend, *v1beta2.Engine)
		waits string
	}{
		"nothing is": {func(*fixture, *v1beta2.EngineFrontend, *v1beta2.Engine) {}, ""},
		"a request that is no time was never acted on": {func(_ *fixture, f *v1beta2.EngineFrontend, _ *v1beta2.Engine) {
			f.Spec.SuspendRequestedAt, f.Status.SuspendedAt = "soon", "soon"
		}, ""},
		"the request is not answered": {func(_ *fixture, f *v1beta2.EngineFrontend, _ *v1beta2.Engine) { f.Status.SuspendedAt = early },
			"until its frontend leads to its target."},
		"the frontend leads nowhere": {func(_ *fixture, f *v1beta2.EngineFrontend, _ *v1beta2.Engine) { f.Status.TargetIP = "" },
			"until its frontend leads to its target."},
		"the frontend leads to another engine than ordered": {func(_ *fixture, f *v1beta2.EngineFrontend, _ *v1beta2.Engine) {
			f.Spec.EngineName = "vol-e-9"
		}, "until its frontend leads to its target."},
		"the frontend is between two targets": {func(_ *fixture, f *v1beta2.EngineFrontend, _ *v1beta2.Engine) {
			f.Status.SwitchoverPhase = "switching"
		}, "until its frontend leads to its target."},
		"the target was not polled since": {func(_ *fixture, _ *v1beta2.EngineFrontend, e *v1beta2.Engine) { e.Status.LookedAt = early },
			"until its target was polled."},
		"the target is lost with a replica that it serves from": {func(s *fixture, _ *v1beta2.EngineFrontend, _ *v1beta2.Engine) {
			s.Nodes["x"] = Node{Known: true, Down: true}
			s.Replicas[0].Spec.FailedAt = early
		}, "until its target on node x, or another one, is up."},
		"the target serves from a marked replica alone": {func(s *fixture, _ *v1beta2.EngineFrontend, e *v1beta2.Engine) {
			s.Replicas[0].Spec.FailedAt = stamp(s.Now)
			e.Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
		}, "until the replica that its target serves from is no longer marked as failed."},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV2, "x", "y")
			f, e, at := s.Frontends[0], s.Engines[0], s.Now.UTC().Format(time.RFC3339Nano)
			f.Status.CurrentState, f.Spec.SuspendRequestedAt, f.Status.SuspendedAt = v1beta2.InstanceStateSuspended, at, at
			e.Spec.LookRequestedAt, e.Status.LookedAt = at, at
			c.is(s, f, e)
			v := Decide(s.World)
			resumed, written := spec(v, f)["suspendRequestedAt"]
			require.Equal(t, c.waits == "", written && resumed == "")
			require.Contains(t, waitsFor(v), c.waits)
		})
	}
}
