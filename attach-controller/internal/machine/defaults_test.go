package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// Else a volume that is deleted at once would leave an engine behind that nobody lets go.
func TestNothingIsMadeBeforeTheVolumeHasItsFinalizer(t *testing.T) {
	s := newStage(v1beta2.DataEngineV2, "x")
	s.Volume.Finalizers = nil
	writes := Decide(s.World).Writes
	require.Len(t, writes, 1)
	require.True(t, writes[0].Finalizer)
	s.step()
	require.Equal(t, Create, Decide(s.World).Writes[0].Kind)
}

func TestWhatIsSaidAlreadyIsLeftAlone(t *testing.T) {
	s := newStage(v1beta2.DataEngineV1, "x")
	spec := &s.Volume.Spec
	spec.NumberOfReplicas, spec.AccessMode, spec.DataLocality, spec.Frontend, spec.Image = 7, "rwx", "best-effort", "iscsi", "mine"
	s.Settings = Settings{DefaultReplicas: 3, DefaultEngineImage: "other"}
	untouched(t, Decide(s.World), s.Volume)
}

func TestAVolumeWithoutAFrontendGetsNone(t *testing.T) {
	s := newStage(v1beta2.DataEngineV1, "x")
	s.Volume.Spec.Frontend, s.Volume.Spec.DisableFrontend = "", true
	untouched(t, Decide(s.World), s.Volume)
	s.Volume.Spec.DisableFrontend = false
	require.Equal(t, "blockdev", writeOf(t, Decide(s.World), s.Volume).Spec["frontend"])
}

func TestAnEngineThatIsDeletedWhileItIsStoppedIsMadeAnew(t *testing.T) {
	s := newStage(v1beta2.DataEngineV2, "x")
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
