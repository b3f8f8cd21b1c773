package machine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// leaving is detaching, with its engine stopped and its replicas still running.
func leaving(t *testing.T, dataEngine string, nodes ...string) *fixture {
	t.Helper()
	s := attached(dataEngine, nodes...)
	s.Volume.Spec.NodeID, s.Volume.Status.State = "", v1beta2.VolumeStateDetaching
	for _, f := range s.Frontends {
		f.Spec.DesireState, f.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	}
	s.Engines[0].Spec.DesireState, s.Engines[0].Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	return s
}

func TestLastReplicaModesAreRecordedBeforeDetach(t *testing.T) {
	for name, one := range map[string]struct {
		modes  map[string]string
		failed []string
	}{
		"all in use":          {map[string]string{"vol-r-0": "RW", "vol-r-1": "RW"}, nil},
		"one dropped":         {map[string]string{"vol-r-0": "RW", "vol-r-1": "ERR"}, []string{"vol-r-1"}},
		"all dropped":         {map[string]string{"vol-r-0": "ERR", "vol-r-1": "ERR"}, nil},
		"one not rebuilt yet": {map[string]string{"vol-r-0": "RW", "vol-r-1": "WO"}, nil},
		"never polled":        {nil, nil},
		"one that is not its": {map[string]string{"vol-r-0": "RW", "vol-r-1": "RW", "vol-r-2": "ERR"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := leaving(t, v1beta2.DataEngineV1, "x", "y")
			s.Engines[0].Status.ReplicaModeMap = one.modes
			require.True(t, s.settle())
			require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State)
			var failed []string
			for _, r := range s.Replicas {
				if r.Spec.FailedAt != "" {
					failed = append(failed, r.Name)
				}
			}
			require.Equal(t, one.failed, failed)
		})
	}
}

// Modes that are kept on the engine must not be taken for those of its next run.
func TestAnEngineThatDroppedAReplicaForgetsItAtTheEnd(t *testing.T) {
	s := leaving(t, v1beta2.DataEngineV1, "x", "y")
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
	require.True(t, s.settle())
	require.NotContains(t, s.Engines[0].Spec.ReplicaAddressMap, "vol-r-1")
	require.Contains(t, s.Engines[0].Spec.ReplicaAddressMap, "vol-r-0", "a late report of the engine still counts")
	s = leaving(t, v1beta2.DataEngineV1, "x", "y")
	require.True(t, s.settle())
	require.NotEmpty(t, s.Engines[0].Spec.ReplicaAddressMap, "without need nothing is written")
}

func TestFrontendEngineAndReplicasStopInThisOrder(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	s.Volume.Spec.NodeID = ""
	s.step()
	var order []string
	for range 20 {
		for _, w := range Decide(s.World).Writes {
			if w.Spec["desireState"] == v1beta2.InstanceStateStopped {
				order = append(order, w.Object.GetName())
			}
		}
		s.step()
		s.imMonitor()
	}
	require.Equal(t, []string{"vol-ef-0", "vol-e-0", "vol-r-0", "vol-r-1"}, order)
}

// From then on the engine on the node that is down could write to its replica alone.
func TestReplicasOnNodesThatAreDownFailBeforeTheFirstOneIsStopped(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y", "z")
	s.Volume.Spec.NodeID, s.Volume.Status.State = "", v1beta2.VolumeStateDetaching
	s.Nodes["x"] = Node{Known: true, Down: true}
	s.Engines[0].Status.CurrentState = v1beta2.InstanceStateUnknown
	verdict := Decide(s.World)
	require.Equal(t, StageMark, writeOf(t, verdict, s.Replicas[0]).Stage)
	require.NotEmpty(t, writeOf(t, verdict, s.Replicas[0]).Spec["failedAt"])
	for _, r := range s.Replicas[1:] {
		w := writeOf(t, verdict, r)
		require.Equal(t, StageRun, w.Stage)
		require.Equal(t, map[string]any{"desireState": v1beta2.InstanceStateStopped}, w.Spec)
	}
}

func TestWithNoReplicaInReachNothingIsConcluded(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.NodeID = ""
	for _, node := range []string{"x", "y"} {
		s.Nodes[node] = Node{Known: true, Down: true}
	}
	require.True(t, s.settle())
	for _, r := range s.Replicas {
		require.Empty(t, r.Spec.FailedAt)
	}
}

// A rebuild that ended while the volume was detached: the replica that was rebuilt may have the newest data.
func TestARebuildThatEndedAtTheLastMomentCounts(t *testing.T) {
	s := leaving(t, v1beta2.DataEngineV1, "x", "y")
	s.Replicas[1].Spec.HealthyAt = ""
	s.Engines[0].Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeERR
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeRW
	require.True(t, s.settle())
	require.NotEmpty(t, s.Replicas[1].Spec.HealthyAt)
	require.NotEmpty(t, s.Replicas[0].Spec.FailedAt, "the engine dropped it before it ended")
}

// ATT-1, A16: instances end before their objects, and the volume ends last.
func TestADeletedVolumeIsDetachedBeforeItsObjectsAreDeleted(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		s := attached(dataEngine, "x", "y")
		s.Attachment = &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "vol"}}
		deleted(s.Volume)
		v := Decide(s.World)
		require.Equal(t, v1beta2.VolumeStateDeleting, v.Status["state"])
		require.Equal(t, Delete, writeOf(t, v, s.Attachment).Kind)
		for range 40 {
			runs := slices.ContainsFunc(s.Replicas, func(r *v1beta2.Replica) bool { return !s.stopped(ofReplica(r)) })
			for _, w := range Decide(s.World).Writes {
				_, ticket := w.Object.(*v1beta2.VolumeAttachment)
				require.False(t, runs && !ticket && (w.Kind == Delete || w.Kind == DropFinalizer), "%s of %s:\n%s", w.Kind, key(w.Object), s)
			}
			s.step()
			s.imMonitor()
		}
		require.Empty(t, s.Volume.Finalizers, "%s", s)
		require.Empty(t, s.Engines)
		require.Empty(t, s.Frontends)
		require.Empty(t, s.Volume.Status.CurrentNodeID)
	}
}

func TestADeletedVolumeWaitsForTheEndOfAllThatIsLeft(t *testing.T) {
	attachment := &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "vol"}}
	deleted(attachment)
	for name, c := range map[string]struct {
		is     func(*fixture)
		waits  string
		writes []Kind
	}{
		"its replicas": {func(*fixture) {}, "Waiting for the end of 2 replicas; see their condition DataRemoved.",
			[]Kind{Delete, Delete}},
		"which are deleted once": {func(s *fixture) { deleted(s.Replicas[0]); deleted(s.Replicas[1]) }, "Waiting for the end of 2 replicas", nil},
		"its engine": {func(s *fixture) {
			s.Replicas, s.Engines = nil, attached(v1beta2.DataEngineV1, "x").Engines
			stop(s.Engines[0])
		},
			"Waiting for the end of the volume's engine and attachment.", []Kind{Delete}},
		"its attachment": {func(s *fixture) { s.Replicas, s.Attachment = nil, attachment },
			"Waiting for the end of the volume's engine and attachment.", nil},
		"its snapshots": {func(s *fixture) { s.Replicas, s.Snapshots, s.FirstSnapshot = nil, 4, "daily-1" },
			"Waiting for the end of 4 Snapshots, first daily-1; ", nil},
		"nothing": {func(s *fixture) { s.Replicas = nil }, "The volume is being deleted.", []Kind{DropFinalizer}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Status.State = v1beta2.VolumeStateDeleting
			deleted(s.Volume)
			c.is(s)
			v := Decide(s.World)
			var kinds []Kind
			for _, w := range v.Writes {
				kinds = append(kinds, w.Kind)
			}
			require.Equal(t, c.writes, kinds)
			require.Contains(t, waitsFor(v), c.waits)
		})
	}
}

func stop(e *v1beta2.Engine) {
	e.Spec.DesireState, e.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
}

// ATT-1: a crash during a migration that began again may leave more than two engines.
func TestEnginesBesideTheTwoThatCountStopAndGo(t *testing.T) {
	for _, wanted := range []string{"", "x"} {
		s := attached(v1beta2.DataEngineV2, "x", "y")
		for n := 1; n < 4; n++ {
			e := s.Engines[0].DeepCopy()
			e.Name = fmt.Sprintf("vol-e-%d", n)
			e.UID, e.Spec.Active, e.Spec.NodeID, e.Status.Port = types.UID(e.Name), false, "y", e.Status.Port+n
			s.Engines = append(s.Engines, e)
		}
		s.Volume.Spec.NodeID = wanted
		require.True(t, s.settle(), "%s", s)
		require.Equal(t, wanted, s.Volume.Status.CurrentNodeID)
		require.Len(t, s.Engines, 1, "%s", s)
		require.Equal(t, "vol-e-0", s.Engines[0].Name)
	}
}
