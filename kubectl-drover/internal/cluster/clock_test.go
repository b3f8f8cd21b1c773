package cluster

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// A laptop that slept has a clock of its own; the times of objects are by those of the cluster.
func TestTimesAreByTheClockOfTheAPIServer(t *testing.T) {
	for _, off := range []time.Duration{0, time.Second, time.Hour, -2 * time.Hour} {
		server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
			answer.Header().Set("Content-Type", "application/json")
			_, _ = answer.Write([]byte(`{"kind":"VolumeList","apiVersion":"longhorn.io/v1beta2","metadata":{},"items":[]}`))
		}))
		now := time.Now()
		c, err := Connect(&rest.Config{Host: server.URL}, "longhorn-system", now)
		require.NoError(t, err)
		w := c.World()
		require.Equal(t, now, w.Now)
		require.NoError(t, c.Read(t.Context(), w, Volumes))
		if off.Abs() < tolerated {
			off = 0
		}
		require.WithinDuration(t, now.Add(off), w.Now, tolerated)
		require.Equal(t, off == 0, w.Now.Equal(now))
		server.Close()
	}
}
