package machine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func key(o metav1.Object) string { return fmt.Sprintf("%T %s", o, o.GetName()) }

// A second patch of the same pass would fail on the resourceVersion.
func TestEveryObjectIsWrittenOnceInAPass(t *testing.T) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		s := newFixture(engine, "x", "y", "z")
		s.Volume.Finalizers, s.Volume.Labels, s.Volume.Spec.AccessMode = nil, nil, ""
		once := func() {
			seen := map[string]bool{}
			stage := StageMake
			for _, w := range Decide(s.World).Writes {
				require.False(t, seen[key(w.Object)], "%s twice", key(w.Object))
				require.GreaterOrEqual(t, w.Stage, stage, "in order of the stages")
				seen[key(w.Object)], stage = true, w.Stage
			}
		}
		for n := range 60 {
			switch n {
			case 5:
				s.Volume.Spec.NodeID = "x"
			case 20:
				s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
			case 25:
				s.Nodes["z"] = Node{Known: true, Down: true}
			case 30:
				s.Volume.Spec.NodeID = ""
			case 45:
				now := metav1.Now()
				s.Volume.DeletionTimestamp = &now
			}
			once()
			s.step()
			s.imMonitor()
		}
	}
}

func TestTheFinalizerComesWithTheDefaults(t *testing.T) {
	s := newFixture("", "x")
	s.Volume.Finalizers, s.Volume.Labels = nil, nil
	writes := Decide(s.World).Writes
	require.Len(t, writes, 1)
	require.True(t, writes[0].Finalizer)
	require.Equal(t, "v1", writes[0].Spec["dataEngine"])
	require.Equal(t, "vol", writes[0].Labels[v1beta2.LabelVolume])
}

// The event of a marked replica is emitted whatever becomes of the later writes of the pass.
func TestTheEventOfAReplicaGoesWithItsPatch(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y", "z")
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
	verdict := Decide(s.World)
	w := writeOf(t, verdict, s.Replicas[1])
	require.Equal(t, StageMark, w.Stage)
	require.Equal(t, v1beta2.InstanceStateStopped, w.Spec["desireState"])
	require.NotEmpty(t, w.Spec["failedAt"])
	require.Len(t, w.Events, 1)
	require.Equal(t, EventReplicaFailed, w.Events[0].Reason)
}

// attached is a volume that is attached to the first node, with a replica on each.
func attached(dataEngine string, nodes ...string) *fixture {
	s := newFixture(dataEngine, nodes...)
	s.Volume.Spec.NodeID = nodes[0]
	if !s.settle() || s.Volume.Status.CurrentNodeID != nodes[0] {
		panic("it does not attach:\n" + s.String())
	}
	return s
}

func findWrite(verdict Verdict, of metav1.Object) *Write {
	for i := range verdict.Writes {
		if key(verdict.Writes[i].Object) == key(of) {
			return &verdict.Writes[i]
		}
	}
	return nil
}

func writeOf(t *testing.T, verdict Verdict, of metav1.Object) Write {
	t.Helper()
	w := findWrite(verdict, of)
	require.NotNil(t, w, "%s is not written: %v", key(of), verdict.Writes)
	return *w
}

// untouched reports whether the object is not written.
func untouched(t *testing.T, verdict Verdict, of metav1.Object) {
	t.Helper()
	require.Nil(t, findWrite(verdict, of), "%s is written", key(of))
}

func TestAVolumeIsLetGoWhenNothingOfItIsLeft(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1)
	s.Volume.Status.State = v1beta2.VolumeStateDeleting
	deleted(s.Volume)
	require.True(t, Decide(s.World).LetsGo(s.Volume))
	s.Snapshots = 1
	require.False(t, Decide(s.World).LetsGo(s.Volume))
}
