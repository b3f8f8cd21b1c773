package cluster_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/cluster"
)

// fakeDownloader replaces `go run setup-envtest`, with a network.
const fakeDownloader = `#!/bin/sh
echo "$1" >>"$FAKE/calls"
[ "$1" = run ] || exit 1
while [ "$1" != --bin-dir ]; do shift; done
dir="$2/k8s/1.36.2-$PLATFORM"
mkdir -p "$dir"
for name in etcd kube-apiserver; do printf '#!/bin/sh\n' >"$dir/$name"; chmod +x "$dir/$name"; done
`

// fakeOffline stands in for go where there is no network but a full module cache.
const fakeOffline = `#!/bin/sh
echo "$1" >>"$FAKE/calls"
if [ "$1" = run ]; then
  echo 'no such host' >&2
  echo 'exit status 2' >&2
  exit 1
fi
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\n' >"$2"
chmod +x "$2"
`

func TestBinariesAreDownloadedWhereTheNetworkAllows(t *testing.T) {
	fake := useFake(t, fakeDownloader)
	t.Setenv("PLATFORM", runtime.GOOS+"-"+runtime.GOARCH)
	var progress bytes.Buffer
	binaries, err := cluster.Locate(t.Context(), false, &progress)
	require.NoError(t, err, "%s", &progress)
	require.Contains(t, binaries.APIServer[0], "1.36.2")
	require.Nil(t, binaries.ControllerManager)

	_, err = cluster.Locate(t.Context(), false, &progress)
	require.NoError(t, err)
	require.Equal(t, "run", read(filepath.Join(fake, "calls")), "the second time they are in the cache")
}

func TestWithoutANetworkTheBinariesAreBuiltAndWhyIsSaid(t *testing.T) {
	fake := useFake(t, fakeOffline)
	var progress bytes.Buffer
	_, err := cluster.Locate(t.Context(), false, &progress)
	require.NoError(t, err)
	require.Equal(t, "run\nbuild", read(filepath.Join(fake, "calls")))
	require.Contains(t, progress.String(), "not downloaded: no such host\n")
	require.Contains(t, progress.String(), "building etcd")
}

func TestAControllerManagerIsNeverLookedForInADownload(t *testing.T) {
	fake := useFake(t, fakeOffline)
	var progress bytes.Buffer
	binaries, err := cluster.Locate(t.Context(), true, &progress)
	require.NoError(t, err)
	require.NotNil(t, binaries.ControllerManager)
	require.Equal(t, "build", read(filepath.Join(fake, "calls")))
}

// useFake lets this test find an empty cache and this script as the go command, and returns the script's directory.
func useFake(t *testing.T, script string) string {
	t.Helper()
	fake := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(fake, "go"), []byte(script), 0o755))
	t.Setenv("FAKE", fake)
	t.Setenv("PATH", fake+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", fake)
	t.Setenv("HOME", fake)
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("TEST_SRCDIR", "") // not those that Bazel gives to the other tests
	return fake
}
