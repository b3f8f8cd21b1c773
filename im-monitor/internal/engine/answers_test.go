package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestLaterBackupsOfAVolumeAreRestoredFromTheSameTarget(t *testing.T) {
	const first = "s3://b@r/?backup=one&volume=v"
	for name, c := range map[string]struct{ backup, want string }{
		"the first one":      {"one", first},
		"none is named":      {"", first},
		"a later one":        {"two", "s3://b@r/?backup=two&volume=v"},
		"a name with a plus": {"a+b", "s3://b@r/?backup=a%2Bb&volume=v"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := engine.RestoreURL(first, c.backup)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := engine.RestoreURL("s3://b@r/?backup=%zz", "two")
	require.ErrorContains(t, err, "reading the URL")
}

func TestTheErrorsOfAPurgeThatHasEnded(t *testing.T) {
	require.Empty(t, engine.PurgeError(nil))
	require.Equal(t, "tcp://1: full; tcp://3: gone", engine.PurgeError(map[string]v1beta2.PurgeStatus{
		"tcp://3": {Error: "gone"}, "tcp://2": {IsPurging: true, Error: "not yet"}, "tcp://1": {Error: "full"}, "tcp://4": {},
	}))
}

func TestTheModesOfListedReplicas(t *testing.T) {
	seen := engine.Seen{Replicas: []engine.Replica{{Name: "a", Mode: v1beta2.ReplicaModeWO}}}
	require.False(t, seen.RW())
	require.True(t, seen.Has(v1beta2.ReplicaModeWO))
	seen.Replicas = append(seen.Replicas, engine.Replica{Name: "b", Mode: v1beta2.ReplicaModeRW})
	require.True(t, seen.RW())
}
