package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestV1ProcessesDieWithTheirServer(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V1)
	_, err := s.Put(v1Replica("r"), "", "")
	require.NoError(t, err)
	require.Empty(t, listed(t, f.start(V1)))
	require.Equal(t, []string{"r"}, f.plane.DirectoriesOf("node-1"))
}

func TestV2LvolsOutliveTheirServerAndAreListedOnceTheirDiskIsLoadedAgain(t *testing.T) {
	f := newFixture(Behaviour{Mode: Today})
	s := f.start(V2)
	f.step(3 * time.Second)
	made := f.putReplica(t, s, "r", Running)
	f.putEngine(t, s, "e")
	s = f.start(V2)
	w := s.Watch()
	f.step(time.Minute)
	require.Empty(t, listed(t, s), "the list is empty with OK")
	f.plane.EnsureDisk("node-1", "disk-1", "/dev/disk-1", 0)
	f.step(6 * time.Second)
	require.Equal(t, map[string]string{"r": Stopped}, listed(t, s), "the replica is back as stopped, the engine is gone")
	require.Zero(t, w.Take(), "rediscovery sends nothing")
	require.Equal(t, made.UUID, s.True()["r"].UUID)
}

func TestServersOfTodayLeaveV2UUIDsEmpty(t *testing.T) {
	for mode, told := range map[ServerMode]bool{Conforming: true, Today: false} {
		f := newFixture(Behaviour{Mode: mode})
		s := f.start(V2)
		made := f.putReplica(t, s, "r", Running)
		f.putEngine(t, s, "e")
		list, err := s.List()
		require.NoError(t, err)
		require.Equal(t, told, list["r"].UUID != "", mode)
		require.Equal(t, told, list["e"].UUID != "", mode)
		replicas, err := s.SPDKReplicas()
		require.NoError(t, err)
		require.Equal(t, made.UUID, replicas["r"].Lvol.UUID, "the head lvol is always readable")
		require.Equal(t, told, replicas["r"].UUID != "", mode)
	}
}

func TestWatchersAreToldOfEachChangeAndOfNothingAtTheStart(t *testing.T) {
	f := newFixture(Behaviour{Linger: time.Second})
	s := f.start(V1)
	_, err := s.Put(v1Replica("early"), "", "")
	require.NoError(t, err)
	w := s.Watch()
	require.Zero(t, w.Take())
	made, err := s.Put(v1Replica("r"), "", "")
	require.NoError(t, err)
	require.Equal(t, 1, w.Take())
	_, err = s.Delete(Deletion{Name: "r", UUID: made.UUID})
	require.NoError(t, err)
	require.Equal(t, 1, w.Take(), "it is stopped")
	f.step(time.Second)
	require.Equal(t, 1, w.Take(), "it is gone")
	s.Stop()
	<-w.Done()
}

func TestANewUUIDUnderTheSameNameIsAnotherInstance(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	made := f.putReplica(t, s, "r", Running)
	changed, err := f.plane.Change("node-1", "r", Change{UUID: NewUUID})
	require.NoError(t, err)
	require.NotEqual(t, made.UUID, changed.UUID)
	_, err = s.Delete(Deletion{Name: "r", Type: TypeReplica, DataEngine: V2, UUID: made.UUID, Cleanup: true})
	require.Equal(t, "FailedPrecondition", CodeOf(err))
	require.Equal(t, changed.UUID, f.plane.LvolsOf("node-1")["r"].UUID)
}
