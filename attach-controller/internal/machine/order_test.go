package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// stoppedEngine is a volume that is wanted on x and attached there, whose engine stopped and is no longer requested.
func stoppedEngine(dataEngine string) *fixture {
	s := attached(dataEngine, "x", "y")
	s.Engines[0].Spec.DesireState, s.Engines[0].Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	return s
}

// ATT-1: what is in an unknown state may still write.
func TestNoEngineStartsWhileAnotherEngineOrAFrontendIsUnknown(t *testing.T) {
	another := func(s *fixture) *v1beta2.Engine {
		e := s.Engines[0].DeepCopy()
		e.Name, e.UID, e.Spec.Active, e.Spec.DesireState = "vol-e-1", "vol-e-1", false, v1beta2.InstanceStateRunning
		s.Engines = append(s.Engines, e)
		return e
	}
	concluded := []v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: v1beta2.ConditionTrue}}
	for name, unknown := range map[string]func() *fixture{
		"another engine of the volume that is attached": func() *fixture {
			s := stoppedEngine(v1beta2.DataEngineV1)
			another(s).Status.CurrentState = v1beta2.InstanceStateUnknown
			return s
		},
		"another engine, on the very node where the volume attaches": func() *fixture {
			s := stoppedEngine(v1beta2.DataEngineV1)
			s.Volume.Status.State, s.Volume.Status.CurrentNodeID = v1beta2.VolumeStateAttaching, ""
			another(s).Status.CurrentState = v1beta2.InstanceStateUnknown
			return s
		},
		"another engine, which was concluded to be stopped while its node was down": func() *fixture {
			s := stoppedEngine(v1beta2.DataEngineV1)
			another(s).Status.Conditions = concluded
			return s
		},
		"the frontend": func() *fixture {
			s := stoppedEngine(v1beta2.DataEngineV2)
			s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateUnknown
			return s
		},
		"the frontend, which was concluded to be stopped while its node was down": func() *fixture {
			s := stoppedEngine(v1beta2.DataEngineV2)
			s.Frontends[0].Status.CurrentState, s.Frontends[0].Status.Conditions = v1beta2.InstanceStateStopped, concluded
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := Decide(unknown().World)
			for _, w := range verdict.Writes {
				require.NotEqual(t, v1beta2.InstanceStateRunning, w.Spec["desireState"], "%s of %s", w.Kind, w.Object.GetName())
			}
			require.Regexp(t, "The state of (engine|frontend) .* is not known", waitsFor(verdict))
		})
	}
	s := stoppedEngine(v1beta2.DataEngineV1)
	require.Equal(t, v1beta2.InstanceStateRunning, writeOf(t, Decide(s.World), s.Engines[0]).Spec["desireState"], "else it starts")
}

// UPG-1: the second engine gets the replicas that the first one has, and would lack what joins the first one with it.
func TestNoReplicaJoinsInTheEvaluationThatCreatesASecondEngine(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	r := s.Replicas[1].DeepCopy()
	r.Name, r.UID, r.Spec.NodeID, r.Spec.HealthyAt, r.Spec.LastHealthyAt = "vol-r-2", "vol-r-2", "z", "", ""
	run(r)
	s.Replicas = append(s.Replicas, r)
	require.Contains(t, writeOf(t, Decide(s.World), s.Engines[0]).Spec, "replicaAddressMap", "else it joins")
	s.Volume.Spec.TargetNodeID = "y"
	s.Engines[0].Spec.LookRequestedAt = s.Now.Format(time.RFC3339Nano)
	s.Engines[0].Status.LookedAt = s.Engines[0].Spec.LookRequestedAt
	verdict := Decide(s.World)
	require.Equal(t, []string{"vol-e-1"}, created(verdict))
	untouched(t, verdict, s.Engines[0])
}

// created are the names of the engines that a verdict creates.
func created(verdict Verdict) (names []string) {
	for _, w := range verdict.Writes {
		if _, engine := w.Object.(*v1beta2.Engine); engine && w.Kind == Create {
			names = append(names, w.Object.GetName())
		}
	}
	return names
}

func TestANoticeDoesNotHideWhatTheVolumeWaitsFor(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x")
	s.Engines[0].Spec.Image, s.Volume.Spec.Image = "image", "newer"
	require.Contains(t, waitsFor(Decide(s.World)), "from the next attachment on")
	s.Engines[0].Status.CurrentState = v1beta2.InstanceStateStarting
	require.Equal(t, "The volume is attached to x. Engine vol-e-0 is about to run on x; it is starting.", waitsFor(Decide(s.World)))
}
