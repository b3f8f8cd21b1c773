package command

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an instance of im-monitor waits for is in its events alone.
func TestWhyShowsTheEventOfAnInstanceThatWaits(t *testing.T) {
	s := newScenario(t, "common.yaml", "event/objects.yaml")
	got := s.run("why", "vol-event")
	require.Empty(t, got.err)
	s.golden("event/why.txt", got.out)
}

// The chain ends at the one object that a person must touch, though none of the volume's own conditions names it.
func TestWhyLeadsFromAPodToTheImageThatCannotBePulled(t *testing.T) {
	s := newScenario(t, "common.yaml", "image-pull/objects.yaml")
	got := s.run("why", "vol-1")
	require.Empty(t, got.err)
	require.Equal(t, ExitWell, got.code)
	s.golden("image-pull/why.txt", got.out)

	t.Run("as JSON", func(t *testing.T) {
		got := s.run("why", "vol-1", "-o", "json")
		require.True(t, json.Valid([]byte(got.out)), got.out)
		s.golden("image-pull/why.json", got.out)
	})
	t.Run("as a name", func(t *testing.T) {
		require.Equal(t, "volume.longhorn.io/vol-1\n", s.run("why", "vol-1", "-o", "name").out)
	})
	t.Run("by the beginning of its name", func(t *testing.T) {
		require.Equal(t, s.run("why", "vol-1").out, s.run("why", "vo").out)
	})
	t.Run("a volume that does not exist", func(t *testing.T) {
		got := s.run("why", "other")
		require.Equal(t, ExitFailed, got.code)
		require.Empty(t, got.out)
		require.Equal(t, "error: no Volume in namespace "+s.namespace+" is called other, or begins so; there are vol-1; "+
			"list all with: kubectl -n "+s.namespace+" get volumes.longhorn.io\n", got.err)
	})
	t.Run("an unknown format is refused before anything is asked", func(t *testing.T) {
		got := s.run("why", "vol-1", "-o", "table")
		require.Equal(t, ExitFailed, got.code)
		require.Equal(t, "error: -o table is not known: use json, yaml or name, or leave it out\n", got.err)
	})
}
