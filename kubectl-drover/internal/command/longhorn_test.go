package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Objects that a longhorn-manager left, with its own conditions and reasons, are read as well: nothing of them is taken for trouble that
// is none. No controller of Drover runs there.
func TestTheObjectsOfALonghornAreRead(t *testing.T) {
	s := newScenario(t, "../../../../e2e/fixtures/testdata/longhorn-1.12.yaml")
	status := s.run("status")
	require.Empty(t, status.err)
	s.golden("longhorn/status.txt", status.out)
	require.Equal(t, ExitWell, status.code)
	s.golden("longhorn/doctor.txt", s.run("doctor").out)
	for _, volume := range []string{"vol-bi", "vol-enc", "vol-v2"} {
		s.golden("longhorn/why-"+volume+".txt", s.run("why", volume).out)
		s.golden("longhorn/tree-"+volume+".txt", s.run("tree", volume).out)
	}
}
