package dataplane

import (
	"strings"
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
	for mode, reported := range map[ServerMode]bool{Conforming: true, Today: false} {
		f := newFixture(Behaviour{Mode: mode})
		s := f.start(V2)
		made := f.putReplica(t, s, "r", Running)
		f.putEngine(t, s, "e")
		list, err := s.List()
		require.NoError(t, err)
		require.Equal(t, reported, list["r"].UUID != "", mode)
		require.Equal(t, reported, list["e"].UUID != "", mode)
		replicas, err := s.SPDKReplicas()
		require.NoError(t, err)
		require.Equal(t, made.UUID, replicas["r"].Lvol.UUID, "the head lvol is always readable")
		require.Equal(t, reported, replicas["r"].UUID != "", mode)
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

// P7: a v1 server knows processes only, so its watchers hear nothing of snapshots; those of a v2 server do.
func TestOnlyWatchersOfAV2ServerAreToldOfSnapshots(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		s := c.servers[0]
		w := s.Watch()
		w.Take()
		_, err := s.Snapshot(ref, "a", nil)
		require.NoError(t, err)
		require.Equal(t, engine == V2, w.Take() > 0, "one was taken")
		_, err = s.Snapshot(ref, "b", nil)
		require.NoError(t, err)
		w.Take()
		require.NoError(t, s.SnapshotRemove(ref, []string{"a"}))
		require.Equal(t, engine == V2, w.Take() > 0, "one was removed")
		require.NoError(t, s.Purge(ref, false, ""))
		require.Equal(t, engine == V2, w.Take() > 0, "they were purged")
	})
}

// P7: an engine whose present size no one knows is started with --current-size 0.
func TestAV1EngineStartsWithoutAKnownSizeButNotWithoutTheFlag(t *testing.T) {
	for args, starts := range map[string]bool{
		"controller vol --size 1048576 --current-size 0 --rebuild-sync-concurrent-limit 1 --snapshot-max-count 250": true,
		"controller vol --size 1048576 --rebuild-sync-concurrent-limit 1 --snapshot-max-count 250":                  false,
	} {
		require.Equal(t, starts, engineProblem(strings.Fields(args), 12) == "", args)
	}
}
