package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Else a volume that is deleted at once would leave an engine behind that no controller releases.
func TestNothingIsCreatedBeforeTheVolumeHasItsFinalizer(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV2, "x")
	s.Volume.Finalizers = nil
	writes := Decide(s.World).Writes
	require.Len(t, writes, 1)
	require.True(t, writes[0].Finalizer)
	s.step()
	require.Equal(t, Create, Decide(s.World).Writes[0].Kind)
}

func TestDefaultsKeepFieldsThatAreSet(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x")
	spec := &s.Volume.Spec
	spec.NumberOfReplicas, spec.AccessMode, spec.DataLocality, spec.Frontend, spec.Image = 7, "rwx", "best-effort", "iscsi", "mine"
	s.Settings = Settings{DefaultReplicas: 3, DefaultEngineImage: "other"}
	untouched(t, Decide(s.World), s.Volume)
}

func TestAVolumeWithoutAFrontendGetsNone(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x")
	s.Volume.Spec.Frontend, s.Volume.Spec.DisableFrontend = "", true
	untouched(t, Decide(s.World), s.Volume)
	s.Volume.Spec.DisableFrontend = false
	require.Equal(t, "blockdev", writeOf(t, Decide(s.World), s.Volume).Spec["frontend"])
}

func TestAStoppedEngineThatIsDeletedIsCreatedAgain(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV2, "x")
	require.True(t, s.settle())
	deleted(s.Engines[0])
	deleted(s.Frontends[0])
	require.True(t, s.settle())
	require.Len(t, s.Engines, 1)
	require.Nil(t, s.Engines[0].DeletionTimestamp)
	require.Len(t, s.Frontends, 1)
	require.Nil(t, s.Frontends[0].DeletionTimestamp)
}

func TestAnEngineThatIsDeletedWhileItRunsStays(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	deleted(s.Engines[0])
	deleted(s.Frontends[0])
	require.True(t, s.settle())
	require.Equal(t, "vol-e-0", s.Engines[0].Name)
	require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State)
}

// A16: whoever deleted it sees what became of that, and what to do.
func TestAnEngineThatIsDeletedInUseIsReportedAndCreatedAgainAfterDetach(t *testing.T) {
	for name, of := range map[string]func(*fixture) string{
		"the engine":   func(s *fixture) string { deleted(s.Engines[0]); return "Engine vol-e-0" },
		"the frontend": func(s *fixture) string { deleted(s.Frontends[0]); return "Frontend " + s.Frontends[0].Name },
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV2, "x", "y")
			which := of(s)
			require.Contains(t, reasons(Decide(s.World)), EventDeletedInUse)
			require.True(t, s.settle())
			c := conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeAttached)
			require.Equal(t, v1beta2.ConditionTrue, c.Status)
			require.Equal(t, v1beta2.ReasonDeletedInUse, c.Reason)
			require.Contains(t, c.Message, which+" is being deleted, but is in use")
			require.NotContains(t, reasons(Decide(s.World)), EventDeletedInUse, "reported once")

			s.Volume.Spec.NodeID = ""
			require.True(t, s.settle())
			require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State)
			require.Nil(t, s.Engines[0].DeletionTimestamp)
			require.Nil(t, s.Frontends[0].DeletionTimestamp)
			s.Volume.Spec.NodeID = "x"
			require.True(t, s.settle())
			require.Equal(t, v1beta2.ReasonAttached, conditions.Reason(s.Volume.Status.Conditions, v1beta2.VolumeAttached))
		})
	}
}

// reasons are those of a verdict's events.
func reasons(v Verdict) (out []string) {
	for _, h := range v.Events {
		out = append(out, h.Reason)
	}
	return out
}

// What a webhook fills in elsewhere is filled in once, before anything of the volume exists.
func TestANewVolumeGetsItsDefaultsFromTheSettings(t *testing.T) {
	with := func(more map[string]any, without ...string) map[string]any {
		out := map[string]any{"accessMode": v1beta2.AccessModeReadWriteOnce, "numberOfReplicas": 3, "dataLocality": "disabled",
			"snapshotMaxCount": 10, "frontend": "blockdev", "image": "default"}
		for key, value := range more {
			out[key] = value
		}
		for _, key := range without {
			delete(out, key)
		}
		return out
	}
	strict := v1beta2.DataLocalityStrictLocal
	for name, c := range map[string]struct {
		is   func(*fixture)
		want map[string]any
	}{
		"all that is missing":                    {func(*fixture) {}, with(nil)},
		"a data engine":                          {func(s *fixture) { s.Volume.Spec.DataEngine = "" }, with(map[string]any{"dataEngine": "v1"})},
		"no image without a setting":             {func(s *fixture) { s.Settings.DefaultEngineImage = "" }, with(nil, "image")},
		"a number of snapshots of its own stays": {func(s *fixture) { s.Volume.Spec.SnapshotMaxCount = 20 }, with(nil, "snapshotMaxCount")},
		"no frontend for a standby":              {func(s *fixture) { s.Volume.Spec.Standby = true }, with(nil, "frontend")},
		"a number of replicas that is none":      {func(s *fixture) { s.Volume.Spec.NumberOfReplicas = -3 }, with(nil)},
		"one replica where it is attached, without a revision counter": {func(s *fixture) { s.Volume.Spec.DataLocality = strict },
			with(map[string]any{"numberOfReplicas": 1, "revisionCounterDisabled": true}, "dataLocality")},
		"no revision counter by the setting": {func(s *fixture) { s.Settings.DisableRevisionCounter = true },
			with(map[string]any{"revisionCounterDisabled": true})},
		"which is decided only once": {func(s *fixture) {
			s.Settings.DisableRevisionCounter, s.Volume.Spec.RevisionCounterDisabled = true, true
		}, with(nil)},
		"and not for v2": {func(s *fixture) { s.Settings.DisableRevisionCounter, s.Volume.Spec.DataEngine = true, "v2" }, with(nil)},
		"nor once it has a replica": {func(s *fixture) {
			s.Settings.DisableRevisionCounter, s.Replicas = true, newFixture(v1beta2.DataEngineV1, "x").Replicas
		}, with(nil)},
		"nor once it was created, as when its engine was deleted": {func(s *fixture) {
			s.Settings.DisableRevisionCounter, s.Volume.Status.State = true, v1beta2.VolumeStateDetached
		}, with(nil)},
		"nor once it has an engine": {func(s *fixture) {
			s.Settings.DisableRevisionCounter = true
			s.Engines = attached(v1beta2.DataEngineV1, "x").Engines
		}, with(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV1)
			s.Volume.Spec = v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV1, Size: 1 << 30}
			s.Settings = Settings{DefaultReplicas: 3, DefaultEngineImage: "default", SnapshotMaxCount: 10}
			s.Volume.Status.State = ""
			c.is(s)
			require.Equal(t, c.want, writeOf(t, Decide(s.World), s.Volume).Spec)
		})
	}
}

func TestNothingIsCreatedBeforeTheDataEngineIsRecorded(t *testing.T) {
	s := newFixture("", "x")
	require.Empty(t, created(Decide(s.World)))
	s.step()
	require.Equal(t, []string{"vol-e-0"}, created(Decide(s.World)))
}

// The second pair of a migration has free names, and its frontend starts at once at the second engine.
func TestTheSecondFrontendStartsAtTheSecondEngine(t *testing.T) {
	s := asked(v1beta2.DataEngineV2)
	for len(s.Frontends) < 2 {
		require.True(t, s.step() || s.imMonitor(), "%s", s)
		s.imMonitor()
	}
	e, f := s.Engines[1], s.Frontends[1]
	require.Equal(t, []string{"vol-e-1", "vol-ef-1"}, []string{e.Name, f.Name})
	require.Equal(t, []string{"y", "y"}, []string{e.Labels[v1beta2.LabelNode], f.Labels[v1beta2.LabelNode]})
	require.Equal(t, v1beta2.InstanceStateRunning, f.Spec.DesireState)
	require.Equal(t, e.Name, f.Spec.EngineName)
	require.Equal(t, e.Status.StorageIP, f.Spec.TargetIP)
	require.Equal(t, e.Status.Port, f.Spec.TargetPort)
	require.False(t, f.Spec.Active)
}

func TestAFrontendThatIsLostIsCreatedAgainAndWaitedFor(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	s.Frontends = nil
	v := Decide(s.World)
	require.Equal(t, Create, v.Writes[0].Kind)
	require.Equal(t, "vol-ef-0", v.Writes[0].Object.GetName())
	require.Contains(t, waitsFor(v), "The volume's frontend is about to be created.")
	require.True(t, s.settle())
	require.Equal(t, "x", s.Frontends[0].Spec.NodeID)
	require.Equal(t, v1beta2.InstanceStateRunning, s.Frontends[0].Status.CurrentState)
}
