package cluster

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPortThatSomebodyTookIsRecognised(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	port := taken.Addr().(*net.TCPAddr).Port
	require.False(t, free(port))

	for server, options := range map[string]Options{
		"etcd":           {EtcdFlags: []string{fmt.Sprintf("--listen-client-urls=http://127.0.0.1:%d", port)}},
		"kube-apiserver": {APIServerFlags: []string{fmt.Sprintf("--secure-port=%d", port)}},
	} {
		options.BaseDir = t.TempDir()
		_, err := Start(t.Context(), options) // with other ports of its own each time, but never with a better one here
		require.ErrorIs(t, err, errPortTaken, server)
		require.ErrorContains(t, err, server+" exited")
	}
}

func TestAPortIsReservedOnce(t *testing.T) {
	ports, err := FreePorts(1)
	require.NoError(t, err)
	mine, err := reserve(ports[0])
	require.NoError(t, err)
	require.False(t, mine, "no process listens there yet, but the port is taken")
}

func TestFreePortsAreDifferentAndBelowThoseOfOutgoingConnections(t *testing.T) {
	ports, err := FreePorts(50)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, port := range ports {
		require.False(t, seen[port])
		seen[port] = true
		require.GreaterOrEqual(t, port, lowestPort)
		require.Less(t, port, highestPort)
	}
}
