package imclient

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

// wire keeps what a connection writes.
type wire struct {
	net.Conn
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.bytes.Write(p)
	w.mu.Unlock()
	return w.Conn.Write(p)
}

// messagesAndPings counts the DATA frames, and the PING frames that are no acknowledgements, of what was written after the connection's
// preface (RFC 9113, 3.4, 4.1, 6.7).
func (w *wire) messagesAndPings() (messages, pings int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const preface, header, dataFrame, pingFrame, acknowledges = 24, 9, 0, 6, 1
	rest := w.bytes.Bytes()[preface:]
	for len(rest) >= header {
		switch kind, flags := rest[3], rest[4]; {
		case kind == dataFrame:
			messages++
		case kind == pingFrame && flags&acknowledges == 0:
			pings++
		}
		length := int(rest[0])<<16 | int(rest[1])<<8 | int(rest[2])
		rest = rest[min(header+length, len(rest)):]
	}
	return messages, pings
}

func TestACallCostsNoPing(t *testing.T) {
	const calls = 20
	s := serve(t)
	s.holds(map[string]*imrpc.InstanceResponse{"v-e-0": entry("v-e-0", "engine", "v1", "running", "u1")})
	var out *wire
	conn := s.connect(t, v1beta2.DataEngineV1, Options{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		c, err := s.dial(ctx, address)
		out = &wire{Conn: c}
		return out, err
	}})
	for range calls {
		_, err := conn.List(t.Context(), CauseEvent, nil)
		require.NoError(t, err)
	}
	messages, pings := out.messagesAndPings()
	require.GreaterOrEqual(t, messages, calls)
	require.Zero(t, pings, "gRPC pings to fit a window that is not fixed")
}
