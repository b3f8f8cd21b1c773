package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// stuck is a volume that is wanted on x, whose replica on y does not start.
func stuck(state string, nodes ...string) (*fixture, *v1beta2.Replica) {
	s := attached(v1beta2.DataEngineV1, nodes...)
	s.Volume.Spec.NodeID = ""
	s.settle()
	s.Volume.Spec.NodeID = nodes[0]
	s.step()
	s.step()
	s.imMonitor()
	r := s.Replicas[len(nodes)-1]
	r.Status.CurrentState, r.Status.Port = state, 0
	s.StartsSince = map[string]time.Time{r.Name: s.Now}
	return s, r
}

func TestAReplicaThatDoesNotStartFailsAfterTwoMinutes(t *testing.T) {
	for _, state := range []string{v1beta2.InstanceStateStopped, v1beta2.InstanceStateStarting, v1beta2.InstanceStateUnknown} {
		s, r := stuck(state, "x", "y")
		began := s.Now
		at := func(d time.Duration) Verdict {
			s.Now = began.Add(d)
			return Decide(s.World)
		}
		said := func(v Verdict) string { return conditions.Get(v.Conditions, v1beta2.VolumeAttached).Reason }
		early := at(0)
		untouched(t, early, r)
		untouched(t, early, s.Engines[0])
		require.Equal(t, began.Add(startSlow), early.RequeueAt)
		require.NotEqual(t, v1beta2.ReasonReplicaNotStarting, said(early))
		slow := at(startSlow)
		untouched(t, slow, r)
		require.Equal(t, began.Add(startTimeout), slow.RequeueAt)
		require.Equal(t, v1beta2.ReasonReplicaNotStarting, said(slow))
		late := at(startTimeout)
		require.NotEmpty(t, writeOf(t, late, r).Spec["failedAt"])
		require.Equal(t, v1beta2.InstanceStateRunning, writeOf(t, late, s.Engines[0]).Spec["desireState"])
		require.True(t, late.Fresh)
		require.True(t, late.RequeueAt.IsZero())
	}
}

// UPG-1.
func TestTheLastReplicaThatCouldRunIsWaitedForForEver(t *testing.T) {
	s, r := stuck(v1beta2.InstanceStateStopped, "x")
	s.Now = s.Now.Add(time.Hour)
	verdict := Decide(s.World)
	untouched(t, verdict, r)
	c := conditions.Get(verdict.Conditions, v1beta2.VolumeAttached)
	require.Equal(t, v1beta2.ReasonReplicaNotStarting, c.Reason)
	require.Contains(t, c.Message, r.Name)
	two, _ := stuck(v1beta2.InstanceStateStopped, "x", "y")
	two.StartsSince = map[string]time.Time{}
	for _, r := range two.Replicas {
		r.Status.CurrentState = v1beta2.InstanceStateStopped
		two.StartsSince[r.Name] = two.Now.Add(-time.Hour)
	}
	require.Empty(t, Decide(two.World).Writes, "none of them runs: none is marked")
}

func TestAReplicaThatDoesNotStartItsRebuildFailsAfterTwoMinutes(t *testing.T) {
	s, r := added("z")
	r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped
	began := s.Now
	s.StartsSince = map[string]time.Time{r.Name: began}
	s.Now = began.Add(time.Minute)
	early := Decide(s.World)
	untouched(t, early, r)
	require.Equal(t, began.Add(startTimeout), early.RequeueAt)
	s.Now = began.Add(startTimeout)
	w := writeOf(t, Decide(s.World), r)
	require.NotEmpty(t, w.Spec["failedAt"])
	require.Equal(t, v1beta2.InstanceStateStopped, w.Spec["desireState"])
}

// Whatever the order of the replicas, the controller decides again when the first of their times is over.
func TestTheFirstTimeThatChangesAVerdictCounts(t *testing.T) {
	for _, ago := range [][]time.Duration{{5 * time.Second, 2 * time.Second}, {2 * time.Second, 5 * time.Second}} {
		s, _ := stuck(v1beta2.InstanceStateStarting, "x", "y", "z")
		for i, r := range s.Replicas[1:] {
			r.Status.CurrentState, r.Status.Port = v1beta2.InstanceStateStarting, 0
			s.StartsSince[r.Name] = s.Now.Add(-ago[i])
		}
		require.Equal(t, s.Now.Add(startSlow-5*time.Second), Decide(s.World).RequeueAt)
	}
}

func TestAVolumeThatCannotOpenNamesTheReplicaWhoseNodeIsDown(t *testing.T) {
	s, r := stuck(v1beta2.InstanceStateStopped, "x", "y")
	s.Nodes["y"] = Node{Known: true, Down: true}
	s.Replicas[0].Spec.FailedAt = early
	require.Contains(t, waitsFor(Decide(s.World)), `Healthy replica `+r.Name+` is on node "y", which is down: bring that node back.`)
	s.Replicas = nil
	require.Contains(t, waitsFor(Decide(s.World)), "none of its replicas is left: restore it from a backup, or delete it.")
	s.Volume.Status.CurrentImage, s.Volume.Status.LastDegradedAt = "", ""
	require.Contains(t, waitsFor(Decide(s.World)), "The volume has no replica yet: see the condition Scheduled.")
}
