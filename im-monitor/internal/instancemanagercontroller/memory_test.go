package instancemanagercontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMapsAreToldAtOnceAfterSilenceAndTogetherInARow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	var m memory
	require.Zero(t, m.mapsLeft("im-1", now))
	m.wroteMaps("im-1", now)
	require.Equal(t, mapsPause, m.mapsLeft("im-1", now))
	require.Equal(t, mapsPause/4, m.mapsLeft("im-1", now.Add(3*mapsPause/4)))
	require.Zero(t, m.mapsLeft("im-1", now.Add(mapsPause)))
	require.Zero(t, m.mapsLeft("im-2", now), "each for itself")
}
