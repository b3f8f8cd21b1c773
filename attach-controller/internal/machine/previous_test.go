package machine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatAnEarlierVolumeOfTheNameLeftIsNeitherUsedNorInTheWay(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV2, "x", "y")
	old := attached(v1beta2.DataEngineV2, "x", "y")
	s.Previous = old.Objects
	s.Volume.Spec.NodeID = "x"
	require.True(t, s.settle())
	require.Equal(t, "x", s.Volume.Status.CurrentNodeID)
	require.Equal(t, "vol-e-1", s.Engines[0].Name, "another name than the previous volume's engine")
	require.Equal(t, v1beta2.InstanceStateRunning, old.Engines[0].Spec.DesireState)
	require.Nil(t, old.Replicas[0].DeletionTimestamp)
	now := metav1.Now()
	s.Volume.DeletionTimestamp = &now
	for range 30 {
		s.step()
		s.imMonitor()
	}
	require.Empty(t, s.Engines)
	require.Nil(t, old.Replicas[0].DeletionTimestamp, "its data is not ours to destroy")
}

func TestDeletedObjectsOfAPreviousVolumeStopInOrder(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x")
	old := attached(v1beta2.DataEngineV2, "x")
	e, f, r := old.Engines[0], old.Frontends[0], old.Replicas[0]
	e.Name, f.Name, r.Name = "vol-e-7", "vol-ef-7", "vol-r-7"
	e.UID, f.UID, r.UID = "e", "f", "r"
	s.Previous = old.Objects
	require.Empty(t, Decide(s.World).Writes)
	deleted(e)
	deleted(f)
	deleted(r)
	verdict := Decide(s.World)
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, verdict, f).Spec["desireState"])
	untouched(t, verdict, e)
	f.Spec.DesireState, f.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	verdict = Decide(s.World)
	require.Equal(t, DropFinalizer, writeOf(t, verdict, f).Kind)
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, verdict, e).Spec["desireState"])
	untouched(t, verdict, r)
	e.Spec.DesireState, e.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	verdict = Decide(s.World)
	require.Equal(t, DropFinalizer, writeOf(t, verdict, e).Kind)
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, verdict, r).Spec["desireState"])
	untouched(t, verdict, s.Engines[0])
}

// An engine on a down node counts as stopped once the reachable replicas are: they do not wait for it.
func TestDeletedObjectsOfAPreviousVolumeDoNotWaitForADownNode(t *testing.T) {
	old := attached(v1beta2.DataEngineV1, "x", "y")
	e, r := old.Engines[0], old.Replicas[1]
	deleted(e)
	deleted(r)
	w := World{Now: old.Now, Nodes: map[string]Node{e.Spec.NodeID: {Known: true, Down: true}, r.Spec.NodeID: {Known: true}},
		Previous: Objects{Engines: []*v1beta2.Engine{e}, Replicas: []*v1beta2.Replica{r}}}
	e.Status.CurrentState = v1beta2.InstanceStateUnknown
	verdict := DecideWithoutVolume(w)
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, verdict, e).Spec["desireState"])
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, verdict, r).Spec["desireState"])
	w.Nodes[e.Spec.NodeID] = Node{Known: true}
	untouched(t, DecideWithoutVolume(w), r)
}

// A volume that is missing from a restored backup may be in use: what nobody deleted keeps its replicas.
func TestAReplicaOfAnEngineThatNobodyDeletedIsNotStopped(t *testing.T) {
	old := attached(v1beta2.DataEngineV1, "x", "y")
	e, r := old.Engines[0], old.Replicas[1]
	deleted(r)
	w := World{Now: old.Now, Nodes: old.Nodes, Previous: old.Objects}
	require.Empty(t, DecideWithoutVolume(w).Writes)
	e.Spec.ReplicaAddressMap = map[string]string{}
	require.Empty(t, DecideWithoutVolume(w).Writes, "the engine still lists it")
	e.Status.ReplicaModeMap, e.Status.CurrentReplicaAddressMap = nil, nil
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, DecideWithoutVolume(w), r).Spec["desireState"])
}

// Objects of one volume are deleted one after the other: the engine does not stop before its frontend.
func TestAnEngineOfAFrontendThatNobodyDeletedIsNotStopped(t *testing.T) {
	old := attached(v1beta2.DataEngineV2, "x", "y")
	e, f := old.Engines[0], old.Frontends[0]
	deleted(e)
	w := World{Now: old.Now, Nodes: old.Nodes, Previous: old.Objects}
	require.Empty(t, DecideWithoutVolume(w).Writes)
	f.Spec.EngineName = "another"
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, DecideWithoutVolume(w), e).Spec["desireState"])
}

// A volume that was attached once has data: when all that had it is gone, an empty replica does not take its place.
func TestAVolumeThatLostAllItsReplicasIsNotNew(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.NodeID = ""
	require.True(t, s.settle())
	require.NotEmpty(t, s.Volume.Status.CurrentImage)
	s.Replicas = newFixture(v1beta2.DataEngineV1, "z").Replicas
	s.Replicas[0].Name = "vol-r-new"
	s.Volume.Spec.NodeID = "x"
	for range 20 {
		verdict := Decide(s.World)
		require.Empty(t, writesOf(verdict, s.Engines[0])["desireState"])
		require.Empty(t, writesOf(verdict, s.Replicas[0])["healthyAt"])
		s.step()
		s.imMonitor()
	}
	require.Empty(t, s.Volume.Status.CurrentNodeID)
}

func writesOf(verdict Verdict, o metav1.Object) map[string]any {
	if w := findWrite(verdict, o); w != nil && w.Spec["desireState"] != v1beta2.InstanceStateStopped {
		return w.Spec
	}
	return nil
}

func TestTheCurrentImageIsNeverEmptyOnceAVolumeWasAttached(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV2, "x")
	s.Volume.Spec.Image, s.Volume.Spec.NodeID = "", "x"
	for range 20 {
		s.step()
		s.imMonitor()
		for _, e := range s.Engines {
			e.Status.CurrentImage = "of the engine"
		}
	}
	require.Equal(t, "of the engine", s.Volume.Status.CurrentImage)
}

// An instance whose end is not proven would look like one whose object was lost.
func TestAnInstanceThatMayStillRunIsRecordedBeforeItsEngineIsReleased(t *testing.T) {
	listed := abandoned.Listing{Node: "x", UUID: "run-7", DataEngine: v1beta2.DataEngineV1}
	for name, c := range map[string]struct {
		concluded bool
		listing   abandoned.Listing
		records   int
	}{
		"its node is down":                  {true, listed, 1},
		"its end was observed on that node": {false, listed, 0},
		"it was left behind on another":     {false, abandoned.Listing{Node: "y", UUID: "run-6", DataEngine: v1beta2.DataEngineV1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x")
			old := attached(v1beta2.DataEngineV1, "x").Engines[0]
			old.Name, old.UID = "vol-e-7", "e"
			stop(old)
			deleted(old)
			if c.concluded {
				s.Nodes["x"] = Node{Known: true, Down: true}
				old.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: v1beta2.ConditionTrue}}
			}
			s.Previous, s.Listed = Objects{Engines: []*v1beta2.Engine{old}}, map[string][]abandoned.Listing{old.Name: {c.listing}}
			var kinds []Kind
			for _, w := range Decide(s.World).Writes {
				if key(w.Object) == key(old) {
					kinds = append(kinds, w.Kind)
					require.True(t, w.Kind != Abandon || w.Record.Instance.UUID == c.listing.UUID && w.Record.Node == c.listing.Node)
				}
			}
			require.Equal(t, append(slices.Repeat([]Kind{Abandon}, c.records), DropFinalizer), kinds)
		})
	}
}
