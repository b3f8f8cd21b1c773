package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheLimitsOfAVolumeReachItsRunningEngine(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.SnapshotMaxCount, s.Volume.Spec.SnapshotMaxSize, s.Volume.Spec.UnmapMarkSnapChainRemoved = 7, 8, "enabled"
	w := findWrite(Decide(s.World), s.Engines[0])
	require.NotNil(t, w)
	require.Equal(t, 7, w.Spec["snapshotMaxCount"])
	require.Equal(t, "8", w.Spec["snapshotMaxSize"])
	require.Equal(t, true, w.Spec["unmapMarkSnapChainRemovedEnabled"])
	e := &s.Engines[0].Spec
	e.SnapshotMaxCount, e.SnapshotMaxSize, e.UnmapMarkSnapChainRemovedEnabled = 7, 8, true
	require.Nil(t, findWrite(Decide(s.World), s.Engines[0]))
}
