package main

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

// roleVariable lets the test binary act as the command itself, and as the holder that the command starts.
const roleVariable = "DROVER_CLUSTER_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestAControlPlaneRunsFromUpToDown(t *testing.T) {
	base := t.TempDir()
	kubeconfig := strings.TrimSpace(run(t, base, "up"))
	defer run(t, base, "down")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	require.True(t, listens(t, config.Host))
	require.Equal(t, kubeconfig, strings.TrimSpace(run(t, base, "up")), "up again is the same one")
	require.FileExists(t, kubeconfig)

	run(t, base, "down")
	require.False(t, listens(t, config.Host))
	left, err := filepath.Glob(filepath.Join(base, "*"))
	require.NoError(t, err)
	require.Empty(t, left, "nothing stays behind")
	run(t, base, "down") // twice is no error
}

func TestUpReportsWhyAControlPlaneDoesNotStart(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	output, err := command(t, base, "up", "--data-dir="+file).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "etcd exited")
	require.NoFileExists(t, filepath.Join(base, filepath.Base(recordPath("default"))))
}

// run returns what the command prints, which must succeed.
func run(t *testing.T, base string, arguments ...string) string {
	t.Helper()
	output, err := command(t, base, arguments...).Output()
	require.NoError(t, err, "%v: %s", arguments, output)
	return string(output)
}

func command(t *testing.T, base string, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(self, arguments...)
	command.Env = append(os.Environ(), roleVariable+"=yes", "TMPDIR="+base)
	return command
}

func listens(t *testing.T, address string) bool {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	connection, err := net.Dial("tcp", parsed.Host)
	if err != nil {
		return false
	}
	return connection.Close() == nil
}
