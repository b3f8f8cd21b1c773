package enginepoll

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
)

func TestAConnectionIsKeptWhileItAnswersAndIsUsed(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	p := &pool{connect: imclient.NewDialer(imclient.Options{}).Proxy}
	get := func(address string, at time.Duration) *imclient.Proxy {
		proxy, err := p.get(address, now.Add(at))
		require.NoError(t, err)
		return proxy
	}
	a, b := get("10.0.0.1", 0), get("10.0.0.2", 0)
	require.NotSame(t, a, b)
	require.Same(t, a, get("10.0.0.1", time.Minute))

	p.failed(way{manager: "10.0.0.1", proxy: a}, errors.New("an answer"))
	require.Same(t, a, get("10.0.0.1", 2*time.Minute), "who answers with an error is there")
	p.failed(way{manager: "10.0.0.1", proxy: b}, imclient.ErrUnreachable)
	require.Same(t, a, get("10.0.0.1", 3*time.Minute), "another connection failed")
	p.failed(way{manager: "10.0.0.1", proxy: a}, imclient.ErrUnreachable)
	c := get("10.0.0.1", 4*time.Minute)
	require.NotSame(t, a, c)
	p.failed(way{manager: "10.0.0.1", proxy: a}, imclient.ErrUnreachable)
	require.Same(t, c, get("10.0.0.1", 5*time.Minute), "a failure of the one before")

	require.Same(t, c, get("10.0.0.1", idleEnd))
	require.NotContains(t, p.open, "10.0.0.2", "no one used it")
	_, err := p.get("nowhere", now)
	require.Error(t, err)
}
