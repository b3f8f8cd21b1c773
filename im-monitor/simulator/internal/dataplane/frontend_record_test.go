package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// away starts an engine of a volume on another node, whose server can end, and reports where it listens.
func (f *fixture) away(t *testing.T, name string) (*Server, string) {
	t.Helper()
	server := f.plane.Start("node-2", "im-2", V2, "127.1.1.2", MetadataPath)
	return server, address("127.1.1.2", f.putEngine(t, server, name).PortStart)
}

func frontendSpec(name, volume, engine, where string) Spec {
	return Spec{Name: name, Type: TypeFrontend, DataEngine: V2, Volume: volume, PortCount: 1, EngineName: engine, TargetAddress: where,
		Frontend: FrontendBlockDevice}
}

// lostDevices are the frontends whose device a node lost.
func (f *fixture) lostDevices() (out []string) {
	f.plane.mu.Lock()
	defer f.plane.mu.Unlock()
	for _, e := range f.plane.journalAfter(0) {
		if e.Effect == EffectDeviceLost {
			out = append(out, e.Name)
		}
	}
	return out
}

func (f *fixture) devices(volume string) int {
	f.plane.mu.Lock()
	defer f.plane.mu.Unlock()
	return len(f.plane.volume(volume).devices)
}

func TestFrontendsComeBackFromTheirRecords(t *testing.T) {
	f := newFixture(Behaviour{StartTime: time.Second})
	_, where := f.away(t, "e")
	s := f.start(V2)
	for name, frontend := range map[string]string{"block": FrontendBlockDevice, "nvmf": FrontendNVMf, "ublk": FrontendUblk} {
		spec := frontendSpec(name, "vol-"+name, "e", where)
		spec.Frontend = frontend
		_, err := s.Create(spec)
		require.NoError(t, err)
	}
	f.step(time.Second)
	require.Equal(t, map[string]string{"block": Running, "nvmf": Running, "ublk": Running}, listed(t, s))
	s = f.start(V2)
	require.Equal(t, map[string]string{"block": Pending, "nvmf": Pending}, listed(t, s), "ublk does not come back")
	f.step(time.Second)
	require.Equal(t, map[string]string{"block": Running, "nvmf": Running}, listed(t, s))
	require.Equal(t, 1, f.devices("vol-block"), "the device continues")
	require.Empty(t, f.lostDevices())
}

func TestAFrontendWhoseTargetDoesNotAnswerIsInErrorForAMomentAndThenUnknownWithItsDevice(t *testing.T) {
	f := newFixture(Behaviour{StartTime: time.Second, Linger: time.Second})
	engines, where := f.away(t, "e")
	_, err := f.start(V2).Create(frontendSpec("f", "vol", "e", where))
	require.NoError(t, err)
	f.step(time.Second)
	engines.Stop()
	s := f.start(V2)
	f.step(time.Second)
	require.Equal(t, map[string]string{"f": Failed}, listed(t, s), "its target is gone")
	require.Equal(t, []string{"f"}, f.lostDevices())
	f.step(time.Second)
	require.Empty(t, listed(t, s), "nothing is tried again")
	f.away(t, "e")
	require.Empty(t, listed(t, f.start(V2)), "nor by the next server")
}

func TestARecordLivesBehindTheMountAndEndsWithAContainerThatHasNone(t *testing.T) {
	f := newFixture(Behaviour{})
	_, where := f.away(t, "e")
	bare := func() *Server { return f.plane.Start("node-1", "im-v2", V2, "127.1.1.1", "") }
	_, err := bare().Create(frontendSpec("f", "vol", "e", where))
	require.NoError(t, err)
	s := bare()
	require.Empty(t, listed(t, s), "its next server knows nothing of it")
	require.Equal(t, 1, f.devices("vol"), "while the kernel continues")
	require.Empty(t, listed(t, f.start(V2)), "and no mount brings back what was never there")
	_, err = s.Create(frontendSpec("f", "vol", "e", where))
	require.Equal(t, "Unavailable", CodeOf(err), "that server ended")
	_, err = f.start(V2).Create(frontendSpec("f", "vol", "e", where))
	require.NoError(t, err)
	require.Equal(t, []string{"f"}, f.lostDevices(), "created again, it has another device")
	require.Equal(t, 1, f.devices("vol"))
}

func TestARecordIsSavedAtTheCreationAndAtPromotingOnly(t *testing.T) {
	f := newFixture(Behaviour{})
	_, where := f.away(t, "e")
	s := f.start(V2)
	other := f.putEngine(t, s, "e2")
	_, err := s.Create(frontendSpec("f", "vol", "e", where))
	require.NoError(t, err)
	to := Target{Engine: "e2", Address: address("127.1.1.1", other.PortStart)}
	for phase, saved := range map[string]string{"preparing": where, "switching": where} {
		require.NoError(t, s.SwitchOver(V2, "f", TypeFrontend, to, "preparing"))
		require.NoError(t, s.SwitchOver(V2, "f", TypeFrontend, to, phase))
		require.Equal(t, saved, s.records["vol"].ActivePath, phase)
	}
	require.NoError(t, s.SwitchOver(V2, "f", TypeFrontend, to, "promoting"))
	require.Equal(t, to.Address, s.records["vol"].ActivePath)
	s = f.start(V2)
	require.Empty(t, listed(t, s), "its server went with the engine on record")
	require.Equal(t, []string{"f"}, f.lostDevices())
}

func TestAServerHasOneFrontendForEachVolumeWhateverItsName(t *testing.T) {
	f := newFixture(Behaviour{StartTime: time.Second})
	_, where := f.away(t, "e")
	s := f.start(V2)
	_, err := s.Create(frontendSpec("vol-ef-0", "vol", "e", where))
	require.NoError(t, err)
	refused := func(s *Server, name string) {
		t.Helper()
		_, err := s.Create(frontendSpec(name, "vol", "e", where))
		require.Equal(t, "AlreadyExists", CodeOf(err))
		require.ErrorContains(t, err, "engine frontend vol-ef-0 already exists for volume vol")
	}
	refused(s, "vol-ef-1")
	f.step(time.Second)
	refused(s, "vol-ef-0")
	s = f.start(V2)
	require.Equal(t, map[string]string{"vol-ef-0": Pending}, listed(t, s))
	_, err = s.Create(frontendSpec("vol-ef-1", "vol", "e", where))
	require.NoError(t, err, "one that is being recovered gives way")
	f.step(time.Second)
	require.Equal(t, map[string]string{"vol-ef-1": Running}, listed(t, s))
	_, err = s.Delete(Deletion{Name: "vol-ef-1", Type: TypeFrontend, DataEngine: V2})
	require.NoError(t, err)
	require.Empty(t, listed(t, f.start(V2)), "a deletion ends the record, too")
}

func TestARecordWithoutATargetOrADeviceIsForgotten(t *testing.T) {
	f := newFixture(Behaviour{})
	_, where := f.away(t, "e")
	s := f.start(V2)
	for _, name := range []string{"targetless", "deviceless"} {
		_, err := s.Create(frontendSpec(name, name, "e", where))
		require.NoError(t, err)
	}
	s.records["targetless"].ActivePath, s.records["deviceless"].Endpoint = "", ""
	s = f.start(V2)
	require.Empty(t, listed(t, s))
	require.Empty(t, s.records)
}

func TestAfterARebootARecordedFrontendConnectsAnewWhereItsTargetAnswers(t *testing.T) {
	f := newFixture(Behaviour{})
	_, where := f.away(t, "e")
	s := f.start(V2)
	_, err := s.Create(frontendSpec("f", "vol", "e", where))
	require.NoError(t, err)
	s.Stop()
	f.plane.Reboot("node-1")
	require.Zero(t, f.devices("vol"))
	require.Equal(t, map[string]string{"f": Running}, listed(t, f.start(V2)))
	require.Equal(t, 1, f.devices("vol"))
}
