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

func TestSwitchingOverMovesTheActivePath(t *testing.T) {
	f := newFixture(Behaviour{})
	other := f.plane.Start("node-2", "im-2", V2, "127.1.1.2", MetadataPath)
	s := f.start(V2)
	here, there := f.putEngine(t, s, "e1"), f.putEngine(t, other, "e2")
	from, to := address("127.1.1.1", here.TargetPortStart), Target{Engine: "e2", Address: address("127.1.1.2", there.TargetPortStart)}
	_, err := s.Create(Spec{Name: "f", Type: TypeFrontend, DataEngine: V2, PortCount: 1, EngineName: "e1", TargetAddress: from, Frontend: FrontendBlockDevice,
		Volume: "vol"})
	require.NoError(t, err)
	require.Equal(t, "FailedPrecondition", CodeOf(s.SwitchOver(V2, "f", TypeFrontend, to, "promoting")), "it was not prepared")
	for _, phase := range []string{"preparing", "preparing", "switching", "switching", "promoting", "promoting"} {
		require.NoError(t, s.SwitchOver(V2, "f", TypeFrontend, to, phase))
	}
	told, err := s.Get(V2, "f")
	require.NoError(t, err)
	require.Equal(t, to.Address, told.ActivePath)
	require.Len(t, told.Paths, 1)
	require.Equal(t, ANAOptimized, told.Paths[0].ANAState)
	require.Equal(t, "Unimplemented", CodeOf(s.SwitchOver(V2, "e1", TypeEngine, to, "")))
	require.Equal(t, "Unimplemented", CodeOf(f.start(V1).Suspend(V1, "x", TypeEngine)))
}
