package command

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// A namespace that was mistyped is not an installation that is well.
func TestTheStatusOfANamespaceWithoutDroverIsAnError(t *testing.T) {
	got := newScenario(t).run("status")
	require.Equal(t, ExitFailed, got.code)
	require.Empty(t, got.out)
	require.Regexp(t, `^error: namespace \S+ has nothing of Drover: `, got.err)
}

// Scripts ask for the exit code alone, so that nothing but a finding changes it.
func TestAWellInstallationIsSaidToBeWell(t *testing.T) {
	s := newScenario(t, "common.yaml", "controllers.yaml", "healthy/objects.yaml")
	status := s.run("status")
	require.Empty(t, status.err)
	s.golden("healthy/status.txt", status.out)
	require.Equal(t, ExitWell, status.code)
	doctor := s.run("doctor")
	require.Equal(t, "Nothing waits for a person in namespace "+s.namespace+".\n", doctor.out)
	require.Equal(t, ExitWell, doctor.code)
	s.golden("healthy/why.txt", s.run("why", "vol-well").out)
	s.golden("healthy/tree-volume.txt", s.run("tree", "vol-well").out)
	s.golden("healthy/tree-node.txt", s.run("tree", "node-1").out)
}

// A node that is down shows in ten objects; a person reads of it once, and then of what it did to the volumes.
func TestAnOutageIsShownFromTheVolumesToTheNode(t *testing.T) {
	s := newScenario(t, "common.yaml", "controllers.yaml", "outage/objects.yaml")
	status := s.run("status")
	require.Empty(t, status.err)
	s.golden("outage/status.txt", status.out)
	require.Equal(t, ExitCritical, status.code)
	doctor := s.run("doctor")
	s.golden("outage/doctor.txt", doctor.out)
	require.Equal(t, ExitCritical, doctor.code)
	s.golden("outage/why-degraded.txt", s.run("why", "vol-degraded").out)
	s.golden("outage/why-faulted.txt", s.run("why", "vol-faulted").out)
	s.golden("outage/tree-node-1.txt", s.run("tree", "node/node-1").out)
	s.golden("outage/tree-node.txt", s.run("tree", "node/node-3").out)

	for _, args := range [][]string{{"status"}, {"doctor"}, {"why", "vol-faulted"}, {"tree", "vol-faulted"}} {
		t.Run(args[0]+" for programs", func(t *testing.T) {
			fromJSON, fromYAML := map[string]any{}, map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(s.run(append(args, "-o", "json")...).out), &fromJSON))
			require.NoError(t, yaml.Unmarshal([]byte(s.run(append(args, "-o", "yaml")...).out), &fromYAML))
			require.Equal(t, fromJSON, fromYAML)
			s.golden("outage/"+args[0]+".names", s.run(append(args, "-o", "name")...).out)
		})
	}
}

func TestANameThatTwoVolumesBeginWithIsRefused(t *testing.T) {
	s := newScenario(t, "common.yaml", "outage/objects.yaml")
	got := s.run("why", "vol-")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "error: vol- begins the names of 2 volumes: vol-degraded, vol-faulted; type more of the name\n", got.err)
}
