package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/world"
)

// A volume that was deleted does not pass its name to one that only begins so, and an unset variable of a shell names nothing.
func TestACommandThatWritesTakesACompleteName(t *testing.T) {
	w := &world.World{Namespace: "longhorn-system"}
	name, err := resolve(w, "Volume", "vol-1", []string{"vol-10"})
	require.NoError(t, err)
	require.Equal(t, "vol-10", name)

	_, err = resolveComplete(w, "Volume", "vol-1", []string{"vol-10"})
	require.EqualError(t, err,
		"no Volume in namespace longhorn-system is called vol-1, but vol-10 begins so: a command that writes takes the "+
			"complete name")
	name, err = resolveComplete(w, "Volume", "vol-1", []string{"vol-1", "vol-10"})
	require.NoError(t, err)
	require.Equal(t, "vol-1", name)
	for _, names := range [][]string{nil, {"vol-1"}, {"vol-1", "vol-2"}} {
		_, err = resolve(w, "Volume", "", names)
		require.EqualError(t, err, "the name of the Volume is empty")
		_, err = resolveComplete(w, "Volume", "", names)
		require.EqualError(t, err, "the name of the Volume is empty")
	}
}

// A volume whose name only begins with that of a node must not be shown in the node's place.
func TestANameIsAVolumesOrANodes(t *testing.T) {
	w := &world.World{Namespace: "longhorn-system"}
	volumes, nodes := []string{"db-1", "db-2", "node-1-cache", "same"}, []string{"node-1", "node-2", "same", "worker"}
	for given, want := range map[string]string{
		"db-1": "Volume db-1", "node-1": "Node node-1", "node-1-": "Volume node-1-cache", "same": "Volume same", "sam": "", "node": "",
		"wo": "Node worker", "db": "", "node-2": "Node node-2", "gone": "", "": "",
	} {
		kind, name, err := either(w, given, volumes, nodes)
		if want == "" {
			require.Error(t, err, given)
			continue
		}
		require.NoError(t, err, given)
		require.Equal(t, want, kind+" "+name, given)
	}
	for given, want := range map[string]string{
		"sam": "sam begins names of volumes and of nodes: write volume/sam or node/sam",
		"db":  "db begins the names of 2 volumes: db-1, db-2; type more of the name",
	} {
		_, _, err := either(w, given, volumes, nodes)
		require.EqualError(t, err, want)
	}
}

// An empty flag would select more than without it was meant: it fails before anything is asked.
func TestAnEmptyFlagSelectsNothing(t *testing.T) {
	for _, line := range [][]string{
		{"detach", "vol-1", "--ticket", "", "--all"},
		{"detach", "vol-1", "--node", "", "--all"},
		{"attach", "vol-1", "--node", "node-1", "--ticket", ""},
		{"orphans", "delete", "--all-approved", "--node", "", "--yes"},
	} {
		s := &scenario{t: t, namespace: "longhorn-system", kubeconfig: "/nonexistent"}
		got := s.run(line...)
		require.Equal(t, ExitFailed, got.code)
		require.Regexp(t, `^error: --(ticket|node) is empty: give it a value, or leave it out\n$`, got.err, "%v", line)
	}
}
