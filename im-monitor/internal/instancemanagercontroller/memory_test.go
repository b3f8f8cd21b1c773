package instancemanagercontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMapsAreWrittenAtOnceAfterSilenceAndTogetherInARow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	m := newMemory()
	require.Zero(t, m.mapsLeft("im-1", now))
	m.wroteMaps("im-1", 1, now, now)
	require.Equal(t, mapsPause, m.mapsLeft("im-1", now))
	require.Equal(t, mapsPause/4, m.mapsLeft("im-1", now.Add(3*mapsPause/4)))
	require.Zero(t, m.mapsLeft("im-1", now.Add(mapsPause)))
	require.Zero(t, m.mapsLeft("im-2", now), "each for itself")
}

func TestLargeMapsWhoseWriteTakesLongAreWrittenAsMuchRarer(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for took, pause := range map[time.Duration]time.Duration{
		20 * time.Millisecond:  time.Second,
		400 * time.Millisecond: 4 * time.Second,
		time.Minute:            10 * time.Second,
	} {
		m := newMemory()
		ended := began.Add(took)
		m.wroteMaps("im-1", mapsLarge+1, began, ended)
		require.Equal(t, pause, m.mapsLeft("im-1", ended), "a write that took %s", took)
		require.Zero(t, m.mapsLeft("im-1", ended.Add(pause)))

		m.wroteMaps("im-1", mapsLarge, began, ended)
		require.Equal(t, time.Second, m.mapsLeft("im-1", ended), "a small map, on a machine that is slow")
	}
}
