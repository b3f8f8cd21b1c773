package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// cutWhileRelocated is a volume on x whose target is on y, which went down and came back before the frontend had left for z: the replica on
// y counts as failed and alone serves, while the engine dropped the one on z, which counts as healthy.
func cutWhileRelocated(t *testing.T) *fixture {
	t.Helper()
	s := moved(t, "x", "y", "z")
	out := s.Replicas[0] // by an upgrade of x
	out.Spec.FailedAt, out.Spec.DesireState = stamp(s.Now), v1beta2.InstanceStateStopped
	delete(s.engineOn("y").Spec.ReplicaAddressMap, out.Name)
	require.True(t, s.settle(), "%s", s)
	s.Nodes["y"] = Node{Known: true, Down: true}
	s.Volume.Spec.TargetNodeID = "z"
	for range 20 {
		if len(s.Engines) > 1 {
			break
		}
		s.step()
		s.imMonitor()
		s.Now = s.Now.Add(time.Second)
	}
	require.Len(t, s.Engines, 2, "%s", s)
	require.NotEmpty(t, s.Replicas[1].Spec.FailedAt, "%s", s)
	s.Nodes["y"] = Node{Known: true}
	for _, e := range s.Engines {
		if e.Spec.NodeID == "y" {
			e.Status.CurrentState = v1beta2.InstanceStateRunning
			e.Status.ReplicaModeMap = map[string]string{"vol-r-1": v1beta2.ReplicaModeRW, "vol-r-2": v1beta2.ReplicaModeERR}
		}
	}
	require.True(t, leadsTo(s.Frontends[0], s.engineOn("y")), "%s", s)
	return s
}

func (s *fixture) engineOn(node string) *v1beta2.Engine {
	for _, e := range s.Engines {
		if e.Spec.NodeID == node {
			return e
		}
	}
	return nil
}

// UPG-1: what the frontend writes meanwhile only the marked replica has. If it stayed marked, the volume would be opened over the other one
// next.
func TestAReplicaThatAloneServesIsNotTakenForFailed(t *testing.T) {
	s := cutWhileRelocated(t)
	for range 40 {
		s.step()
		s.imMonitor()
		s.Now = s.Now.Add(time.Second)
		require.True(t, hasWay(s), "%s", s)
	}
	require.Empty(t, s.Replicas[1].Spec.FailedAt, "%s", s)
	require.NotEmpty(t, s.Replicas[1].Spec.LastFailedAt)
	require.NotEmpty(t, s.Replicas[2].Spec.FailedAt, "the other one lacks what was written since:\n%s", s)
}

// certain is cutWhileRelocated with all that a mark is taken back for: the replica runs, and its engine was polled after the mark.
func certain(t *testing.T) (*fixture, *v1beta2.Engine) {
	t.Helper()
	s := cutWhileRelocated(t)
	e := s.engineOn("y")
	s.Engines = []*v1beta2.Engine{e}
	s.Now = s.Now.Add(20 * time.Second)
	s.Replicas[1].Spec.FailedAt, s.Replicas[1].Status.CurrentState = stamp(s.Now.Add(-time.Second)), v1beta2.InstanceStateRunning
	e.Spec.LookRequestedAt = s.Now.UTC().Format(time.RFC3339Nano)
	e.Status.LookedAt = e.Spec.LookRequestedAt
	return s, e
}

// The engine must report it after the mark, the frontend must stay, and no other engine may serve.
func TestAMarkIsNotTakenBackOnDoubtfulEvidence(t *testing.T) {
	for name, doubt := range map[string]func(*fixture, *v1beta2.Engine){
		"a poll from before the mark": func(s *fixture, e *v1beta2.Engine) {
			e.Spec.LookRequestedAt = s.Now.Add(-2 * time.Second).UTC().Format(time.RFC3339Nano)
			e.Status.LookedAt = e.Spec.LookRequestedAt
		},
		"a mark that is no time": func(s *fixture, _ *v1beta2.Engine) { s.Replicas[1].Spec.FailedAt = "yesterday" },
		"an engine on a node that is down": func(s *fixture, _ *v1beta2.Engine) {
			s.Nodes["y"], s.Volume.Spec.TargetNodeID = Node{Known: true, Down: true}, ""
		},
		"a replica that never had the data":     func(s *fixture, _ *v1beta2.Engine) { s.Replicas[1].Spec.HealthyAt = "" },
		"a frontend that was ordered to switch": func(s *fixture, _ *v1beta2.Engine) { s.Frontends[0].Spec.EngineName = "vol-e-9" },
		"a frontend between two targets": func(s *fixture, _ *v1beta2.Engine) {
			s.Frontends[0].Status.SwitchoverPhase = "switching"
		},
		"another good replica": func(s *fixture, e *v1beta2.Engine) {
			e.Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeRW
		},
		"a replica that leaves for good": func(s *fixture,
			_ *v1beta2.Engine) {
			s.Replicas[1].DeletionTimestamp = &s.Volume.CreationTimestamp
		},
		"a replica that does not run": func(s *fixture, _ *v1beta2.Engine) {
			s.Replicas[1].Status.CurrentState = v1beta2.InstanceStateError
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := certain(t)
			doubt(s, e)
			s.step()
			require.NotEmpty(t, s.Replicas[1].Spec.FailedAt, "%s", s)
		})
	}
	s, _ := certain(t)
	v := Decide(s.World)
	require.Equal(t, "", writeOf(t, v, s.Replicas[1]).Spec["failedAt"], "without any doubt it is")
	require.Equal(t, EventStillGood, writeOf(t, v, s.Replicas[1]).Events[0].Reason)
	require.True(t, v.Fresh)
}

// A poll from before the mark proves nothing, and the next one comes only if it is requested.
func TestADoubtfulMarkRequestsAnotherPoll(t *testing.T) {
	for name, c := range map[string]struct {
		mark string
		ago  time.Duration
	}{"the poll is older": {"", 2 * time.Second}, "the mark is no time": {"yesterday", 0}} {
		t.Run(name, func(t *testing.T) {
			s, e := certain(t)
			e.Spec.LookRequestedAt = s.Now.Add(-c.ago).UTC().Format(time.RFC3339Nano)
			e.Status.LookedAt = e.Spec.LookRequestedAt
			if c.mark != "" {
				s.Replicas[1].Spec.FailedAt = c.mark
			}
			require.Equal(t, s.Now.UTC().Format(time.RFC3339Nano), writeOf(t, Decide(s.World), e).Spec["lookRequestedAt"])
		})
	}
}
