package cluster_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/cluster"
)

// fakeGo stands in for the go command: it notes that it was called, waits for the gate, and writes a program.
const fakeGo = `#!/bin/sh
echo "$1" >>"$FAKE/calls"
while [ ! -e "$FAKE/gate" ]; do sleep 0.02; done
[ "$1" = build ] || exit 1
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\n' >"$2"
chmod +x "$2"
`

func TestTwoProcessesThatNeedTheBinariesBuildThemOnce(t *testing.T) {
	fake := useFake(t, fakeGo)
	builder, builds := locate(t)
	require.Eventually(t, func() bool { return strings.Contains(builds.String(), "building etcd") }, within, every)
	second, waits := locate(t)
	require.Eventually(t, func() bool { return strings.Contains(waits.String(), "waiting for it") }, within, every)
	require.NoError(t, os.WriteFile(filepath.Join(fake, "gate"), nil, 0o600))
	require.NoError(t, builder.Wait(), "%s", builds)
	require.NoError(t, second.Wait(), "%s", waits)
	require.Equal(t, "build", read(filepath.Join(fake, "calls")), "built once")

	again, log := locate(t)
	require.NoError(t, again.Wait(), "%s", log)
	require.Equal(t, "build", read(filepath.Join(fake, "calls")), "and found in the cache from then on")
	require.NotContains(t, log.String(), "building")
}

// locate runs a process that searches for the binaries, and returns its output.
func locate(t *testing.T) (*exec.Cmd, *output) {
	t.Helper()
	command, output := inRole(t, roleLocator), &output{}
	command.Stdout, command.Stderr = output, output
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	return command, output
}

// output is a buffer that may be read while it is written.
type output struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (s *output) Write(data []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.buffer.Write(data)
}

func (s *output) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.buffer.String()
}

func TestABrokenBuildIsAnErrorWithTheCompilersWords(t *testing.T) {
	useFake(t, "#!/bin/sh\necho 'main.go:1: broken' >&2\nexit 1\n")
	_, err := cluster.Locate(t.Context(), false, io.Discard)
	require.ErrorContains(t, err, "main.go:1: broken")
}

func TestProgramsInTheNamedDirectoryComeFirst(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	t.Setenv("TEST_SRCDIR", "")
	_, err := cluster.Locate(t.Context(), false, io.Discard)
	require.ErrorContains(t, err, "KUBEBUILDER_ASSETS", "an empty directory is the user's mistake, not a reason to build")

	for _, name := range []string{"etcd", "kube-apiserver"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	binaries, err := cluster.Locate(t.Context(), false, io.Discard)
	require.NoError(t, err)
	require.Equal(t, cluster.Binaries{
		Etcd:      []string{filepath.Join(dir, "etcd")},
		APIServer: []string{filepath.Join(dir, "kube-apiserver")},
	}, binaries)
}
