package runkit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
)

func TestProfilesAreOffAndOfLoopbackOnly(t *testing.T) {
	require.Equal(t, "0", parsed(t).profileAddress)
	require.NoError(t, serve(t.Context(), "profile-address", "0", profiles(), logr.Discard()))
	for _, address := range []string{"0", "127.0.0.1:6060", "127.0.0.2:0", "[::1]:6060", "localhost:6060"} {
		require.NoError(t, loopback(address), address)
	}
	for _, address := range []string{"", ":6060", "0.0.0.0:6060", "[::]:6060", "10.0.0.1:6060", "example.com:6060", "6060"} {
		require.Error(t, loopback(address), address)
	}
}

func TestProfilesOfProcessorAndMemoryAreAnswered(t *testing.T) {
	server := httptest.NewServer(profiles())
	defer server.Close()
	for path, status := range map[string]int{"/debug/pprof/heap": 200, "/debug/pprof/profile?seconds=1": 200, "/debug/pprof/": 200,
		"/debug/pprof/none": 404, "/debug/vars": 404, "/metrics": 404} {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, path)
	}
}
