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
