package machine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// reopened detaches the volume and attaches it to a node again, and returns the replicas that its engine runs over.
func reopened(t *testing.T, s *fixture, node string) []string {
	t.Helper()
	s.Volume.Spec.NodeID = ""
	require.True(t, s.settle(), "%s", s)
	require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State, "%s", s)
	s.Volume.Spec.NodeID = node
	require.True(t, s.settle(), "%s", s)
	require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State, "%s", s)
	var out []string
	for _, r := range s.Replicas {
		if _, mapped := s.Engines[0].Spec.ReplicaAddressMap[r.Name]; mapped {
			out = append(out, r.Name)
		}
	}
	return out
}

// UPG-1: what is written while only a replica that is being deleted serves is in that one alone.
func TestAVolumeGoesOnWithTheReplicaThatServedThoughItIsBeingDeleted(t *testing.T) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for name, noticed := range map[string]bool{"while it is attached": true, "when it is detached": false} {
			t.Run(engine+" "+name, func(t *testing.T) {
				s := attached(engine, "x", "y")
				deleted(s.Replicas[0])
				s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
				if noticed {
					require.NotEmpty(t, spec(Decide(s.World), s.Replicas[1])["failedAt"], "it lacks what is written from now on")
					require.True(t, s.settle(), "%s", s)
				}
				require.Equal(t, []string{"vol-r-0"}, reopened(t, s, "y"))
				require.NotEmpty(t, s.Replicas[1].Spec.FailedAt)
				require.NotEmpty(t, s.Replicas[0].Spec.HealthyAt)
			})
		}
	}
}

func TestTheLastCopyIsOpenedThoughItIsBeingDeleted(t *testing.T) {
	for name, is := range map[string]func(*fixture){
		"the only replica":             func(s *fixture) { s.Replicas = s.Replicas[:1] },
		"beside one to be rebuilt":     func(s *fixture) { s.Replicas[1].Spec.HealthyAt = ""; s.Nodes["y"] = Node{Known: true, Down: true} },
		"beside one with older data":   func(s *fixture) { s.Replicas[1].Spec.FailedAt = early },
		"beside an older one, faulted": func(s *fixture) { s.Replicas[1].Spec.FailedAt = early; s.Volume.Status.Robustness = "faulted" },
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Spec.NodeID = ""
			require.True(t, s.settle())
			deleted(s.Replicas[0])
			is(s)
			s.Engines[0].Spec.ReplicaAddressMap = map[string]string{"vol-r-0": "a:1"}
			s.Now = s.Now.Add(faultPause.First)
			require.Contains(t, reopened(t, s, "x"), "vol-r-0")
			require.Empty(t, s.Replicas[0].Spec.FailedAt)
			for _, other := range s.Replicas[1:] {
				require.False(t, other.Spec.SalvageRequested, "older data")
			}
		})
	}
}

// The guide promises it: a replica that is lost for ever is given up by deleting it, and an older one is used.
func TestTheLastCopyOnANodeThatIsDownIsGivenUpByDeletingIt(t *testing.T) {
	s := faulted(t, "", late)
	s.Nodes["x"] = Node{Known: true, Down: true}
	require.Empty(t, salvaged(Decide(s.World)))
	deleted(s.Replicas[0])
	v := Decide(s.World)
	require.Empty(t, salvaged(v), "if its node returned before it was given up, an engine would open over both")
	require.True(t, v.Fresh && v.FreshNodes, "the cache may not show yet that its node is back")
	require.Equal(t, "", spec(v, s.Replicas[0])["healthyAt"], "it is no copy of what follows, when its node is back")
	s.Replicas[0].Spec.HealthyAt = ""
	require.Equal(t, []string{"vol-r-1"}, salvaged(Decide(s.World)))
}

// Its data is newer than the data of the replicas that failed before.
func TestTheLastCopyIsUsedIfItsNodeReturnsBeforeItIsGivenUp(t *testing.T) {
	s := faulted(t, "", late)
	s.Nodes["x"] = Node{Known: true, Down: true}
	deleted(s.Replicas[0])
	require.True(t, Decide(s.World).FreshNodes)
	s.Nodes["x"] = Node{Known: true}
	v := Decide(s.World)
	require.Empty(t, salvaged(v))
	require.NotContains(t, spec(v, s.Replicas[0]), "healthyAt")
}

// The first read shows that the last copy was deleted while its node was down; only the read that follows shows that the node is back.
func TestAReadThatRequestsAnotherOneIsFollowedByIt(t *testing.T) {
	s := faulted(t, early, late)
	s.Nodes["x"] = Node{Known: true, Down: true}
	require.Equal(t, Reads{Fresh: true}, Decide(s.World).Reads)
	var reads []Reads
	v, err := DecideFresh(&s.World, func(wants Reads) error {
		reads = append(reads, wants)
		s.Replicas[0].Spec.FailedAt = ""
		deleted(s.Replicas[0])
		if wants.FreshNodes {
			s.Nodes["x"] = Node{Known: true}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []Reads{{Fresh: true}, {Fresh: true, FreshNodes: true}}, reads)
	require.Empty(t, salvaged(v))
	require.NotContains(t, spec(v, s.Replicas[0]), "healthyAt")
	_, err = DecideFresh(&faulted(t, early, late).World, func(Reads) error { return context.Canceled })
	require.ErrorIs(t, err, context.Canceled)
}

// Nothing else is left, and its data is kept.
func TestAReplicaThatIsBeingDeletedIsSalvagedWhereNoOtherIsLeft(t *testing.T) {
	s := faulted(t, late, early)
	deleted(s.Replicas[0])
	require.Equal(t, []string{"vol-r-1"}, salvaged(Decide(s.World)))
	deleted(s.Replicas[1])
	require.Equal(t, []string{"vol-r-0"}, salvaged(Decide(s.World)))
	s.Nodes["x"] = Node{Known: true, Down: true}
	require.Empty(t, salvaged(Decide(s.World)), "it has the newest data")
}

// Two replicas that are being deleted must not both count as the last copy when only one of them got the last writes.
func TestAReplicaThatIsLeftBehindIsNoCopyAnyMore(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *fixture){
		"it leaves the running engine": func(t *testing.T, s *fixture) {
			deleted(s.Replicas[0])
			require.True(t, s.settle(), "%s", s)
		},
		"an engine starts without it": func(t *testing.T, s *fixture) {
			s.Volume.Spec.NodeID = ""
			require.True(t, s.settle())
			deleted(s.Replicas[0])
			s.Volume.Spec.NodeID = "x"
			require.True(t, s.settle(), "%s", s)
		},
		"it was left out before it counted": func(t *testing.T, s *fixture) {
			deleted(s.Replicas[0])
			delete(s.Engines[0].Spec.ReplicaAddressMap, "vol-r-0")
			delete(s.Engines[0].Status.ReplicaModeMap, "vol-r-0")
			require.True(t, s.settle(), "%s", s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			leave(t, s)
			require.Empty(t, s.Replicas[0].Spec.HealthyAt)
			deleted(s.Replicas[1])
			require.Equal(t, []string{"vol-r-1"}, reopened(t, s, "y"))
		})
	}
}

// Which of them was dropped first is not in the modes: the engine knows it.
func TestReplicasThatWereAllDroppedAreSalvagedByTheirEngine(t *testing.T) {
	for _, state := range []string{v1beta2.VolumeStateAttached, v1beta2.VolumeStateDetaching} {
		s := leaving(t, v1beta2.DataEngineV1, "x", "y", "z")
		s.Volume.Status.State = state
		if state == v1beta2.VolumeStateAttached {
			s = attached(v1beta2.DataEngineV1, "x", "y", "z")
		}
		s.Replicas[2].Spec.HealthyAt = ""
		s.Engines[0].Status.ReplicaModeMap = map[string]string{"vol-r-0": "ERR", "vol-r-1": "ERR", "vol-r-2": "ERR"}
		v := Decide(s.World)
		for i, want := range []any{true, true, nil} {
			require.Equal(t, want, spec(v, s.Replicas[i])["salvageRequested"], "%s: %s", state, s.Replicas[i].Name)
			require.Nil(t, spec(v, s.Replicas[i])["failedAt"], "%s: %s", state, s.Replicas[i].Name)
		}
	}
}
