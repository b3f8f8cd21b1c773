package dataplane

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// K8: a v2 server works for long on what does not answer, and holds up its lists for an engine and for the end of a frontend.
func TestAV2ServerWorksForLongOnWhatDoesNotAnswer(t *testing.T) {
	c := newCluster(t, V2, Behaviour{DeadTargetTime: 119 * time.Second, DeadReplicaTime: 30 * time.Second, FrontendEndTime: 82 * time.Second})
	alive, other := c.replica(0, "vol"), c.replica(1, "vol")
	engine := func(name string, replicas ...string) Spec {
		out := Spec{Name: name, Type: TypeEngine, DataEngine: V2, Volume: "vol", Replicas: map[string]string{}}
		for n, where := range replicas {
			out.Replicas[fmt.Sprintf("vol-r-%d", n)] = where
		}
		return out
	}
	begin := func(s *Server, spec Spec, takes time.Duration, lists bool) Work {
		work, err := s.BeginCreation(spec)
		require.NoError(t, err)
		require.Equal(t, takes, work.Takes, spec.Name)
		require.Equal(t, lists, s.Listing() != nil, "%s holds up lists", spec.Name)
		return work
	}
	s := c.servers[2]
	begin(s, engine("vol-e-1", alive), 0, false).End()
	begin(s, Spec{Name: "vol-r-new", Type: TypeReplica, DataEngine: V2}, 0, false).End()

	first := begin(s, engine("vol-e-2", alive, "127.9.9.9:1", "127.9.9.9:2"), 60*time.Second, true)
	_, err := s.BeginCreation(engine("vol-e-2", alive))
	require.Equal(t, string(AlreadyExists), CodeOf(err))
	second := begin(s, engine("vol-e-3", "127.9.9.9:1"), 30*time.Second, true)
	lists := s.Listing()
	first.End()
	require.NotNil(t, s.Listing(), "another engine is still being created")
	second.End()
	<-lists
	require.Nil(t, s.Listing())

	dead := Spec{Name: "vol-ef-0", Type: TypeFrontend, DataEngine: V2, Volume: "vol", EngineName: "vol-e-0", TargetAddress: "127.9.9.9:1",
		Frontend: FrontendBlockDevice}
	begin(s, dead, 119*time.Second, false).End()

	ref := c.start(0, "vol-e-0", "vol", map[int]string{0: alive, 1: other})
	served := dead
	served.TargetAddress, served.PortCount = ref.Address, 1
	begin(s, served, 0, false).End()
	_, err = s.Create(served)
	require.NoError(t, err)
	require.Zero(t, s.BeginDeletion(Deletion{Name: "vol-ef-0"}).Takes)
	c.servers[0].instances["vol-e-0"].run.members["vol-r-1"].mode = ModeERR
	ends := s.BeginDeletion(Deletion{Name: "vol-ef-0"})
	require.Equal(t, 82*time.Second, ends.Takes)
	require.NotNil(t, s.Listing())
	ends.End()
	require.Nil(t, s.Listing())
	require.Zero(t, s.BeginDeletion(Deletion{Name: "vol-e-0"}).Takes, "an engine ends at once")
}
