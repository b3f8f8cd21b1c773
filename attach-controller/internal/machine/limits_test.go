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

// S3: a volume that names no number gets the setting's, once, and its running engine gets it from the volume. What the setting is later
// changes no volume.
func TestTheSettingsNumberOfSnapshotsReachesTheEngineOfAVolumeWithoutOne(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	s.Settings.SnapshotMaxCount = 10
	require.True(t, s.settle())
	require.Equal(t, 10, s.Volume.Spec.SnapshotMaxCount)
	require.Equal(t, 10, s.Engines[0].Spec.SnapshotMaxCount)
	s.Settings.SnapshotMaxCount = 20
	require.Empty(t, Decide(s.World).Writes)
}

// R5: engine and replicas are started with the volume's value, or else the setting's.
func TestEngineAndReplicasStartWithTheTrimSetting(t *testing.T) {
	for name, c := range map[string]struct {
		volume            string
		setting, reported bool
	}{
		"the volume enables it": {"enabled", false, true}, "the volume disables it": {"disabled", true, false},
		"the setting": {"ignored", true, true}, "neither": {"", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Spec.UnmapMarkSnapChainRemoved, s.Settings.RemoveSnapshotsOnTrim = c.volume, c.setting
			s.Volume.Spec.NodeID = "x"
			said := map[string]any{}
			for range 20 {
				for _, w := range Decide(s.World).Writes {
					for _, key := range []string{"unmapMarkSnapChainRemovedEnabled", "unmapMarkDiskChainRemovedEnabled"} {
						if value, ok := w.Spec[key]; ok && w.Spec["desireState"] == v1beta2.InstanceStateRunning {
							said[w.Object.GetName()] = value
						}
					}
				}
				s.step()
				s.imMonitor()
			}
			want := map[string]any{s.Engines[0].Name: c.reported}
			if c.reported {
				want["vol-r-0"], want["vol-r-1"] = true, true
			}
			require.Equal(t, want, said, "when they are started, not once they run")
		})
	}
}
