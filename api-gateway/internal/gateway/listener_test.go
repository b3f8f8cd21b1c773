package gateway

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that opens connections and sends nothing has half of them at most: the plugin of another node is answered at once.
func TestOneSlowClientKeepsNobodyOut(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.Connections = 8 })
	for range 40 {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", e.options.Address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
	}
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	client := http.Client{Transport: &http.Transport{DialContext: other.DialContext}}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), headerTimeout-time.Second) // the slow ones are cut off later
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/v1", nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}
