package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/cluster"
)

// The test binary runs itself again in one of these roles, to be killed or to compete.
const (
	roleVariable = "DROVER_CLUSTER_TEST_ROLE"
	roleHolder   = "holder"  // starts a cluster, states where, and waits to be killed
	roleLocator  = "locator" // finds the binaries and states where
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case roleHolder:
		holder()
	case roleLocator:
		locator()
	default:
		os.Exit(m.Run())
	}
}

func holder() {
	c, err := cluster.Start(context.Background(), cluster.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.Dir(), c.APIServerURL())
	select {}
}

func locator() {
	binaries, err := cluster.Locate(context.Background(), true, os.Stderr)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(filepath.Dir(binaries.APIServer[0]))
}

// inRole returns this test binary in another role.
func inRole(t *testing.T, role string, environment ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(self)
	command.Env = append(append(os.Environ(), roleVariable+"="+role), environment...)
	return command
}

func TestAHolderThatIsKilledLeavesNothingBehind(t *testing.T) {
	base := t.TempDir()
	killed := inRole(t, roleHolder, "TMPDIR="+base)
	output, err := killed.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, killed.Start())
	defer func() { _ = killed.Process.Kill() }()
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	dir, address, ok := strings.Cut(strings.TrimSpace(line), " ")
	require.True(t, ok, line)
	require.True(t, listens(address), "the cluster runs")
	servers := serversOf(t, dir)
	require.Len(t, servers, 2, "etcd and kube-apiserver")

	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())

	require.Eventually(t, func() bool { return !listens(address) }, within, every, "the API server outlived its holder")
	for _, pid := range servers {
		require.Eventually(t, func() bool { return !runsFor(pid, dir) }, within, every, "a server outlived its holder")
	}
	require.Eventually(t, func() bool { return len(list(t, base)) == 0 }, within, every, "files outlived their holder")
}

// serversOf returns the process IDs that the cluster recorded.
func serversOf(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	require.NoError(t, err)
	pids := make([]string, len(paths))
	for i, path := range paths {
		pids[i] = read(path)
		require.True(t, runsFor(pids[i], dir))
	}
	return pids
}

// runsFor reports whether the process has the directory in its command line. A zombie has none.
func runsFor(pid, dir string) bool {
	command, err := exec.Command("ps", "-o", "args=", "-p", pid).Output()
	return err == nil && strings.Contains(string(command), dir)
}

func listens(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	connection, err := net.Dial("tcp", parsed.Host)
	if err != nil {
		return false
	}
	return connection.Close() == nil
}
