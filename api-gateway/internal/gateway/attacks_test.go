package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// heap returns the live heap of this process, which is the gateway's and the attacker's.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// nothingWritten requires that the gateway wrote nothing, and still answers.
func (e *env) nothingWritten() {
	e.t.Helper()
	require.Empty(e.t, e.process.Client.Writes())
	code, _, _ := e.send(http.MethodGet, "/v1/schemas", nil)
	require.Equal(e.t, http.StatusOK, code)
}

// zeros is an endless text in quotation marks. The client sends it while the test reads how much was sent.
type zeros struct{ sent atomic.Int64 }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	if z.sent.Add(int64(len(p))) == int64(len(p)) {
		p[0] = '"'
	}
	return len(p), nil
}

func TestARequestOfAHundredMegabytesIsRefusedUnread(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("vol", "node-1")
	before := heap()
	for _, path := range []string{"/v1/volumes", "/v1/volumes/vol?action=attach", "/v1/settings/storage-network", "/v1/nodes/n"} {
		for _, known := range []bool{true, false} {
			method, body := http.MethodPost, &zeros{}
			if strings.HasPrefix(path, "/v1/settings") || strings.HasPrefix(path, "/v1/nodes") {
				method = http.MethodPut
			}
			request, err := http.NewRequestWithContext(t.Context(), method, e.base+path, io.LimitReader(body, 100<<20))
			require.NoError(t, err)
			if known {
				request.ContentLength = 100 << 20
			}
			response, err := http.DefaultClient.Do(request)
			if err == nil { // else the connection ended while the client was sending
				require.Contains(t, []int{http.StatusRequestEntityTooLarge, http.StatusNotFound}, response.StatusCode, path)
				_ = response.Body.Close()
			}
			require.Less(t, body.sent.Load(), int64(16<<20), "%s: it was not read", path)
		}
	}
	require.Less(t, heap()-before, int64(16<<20))
	e.nothingWritten()
}

// raw sends the bytes of a request, and returns the status of the answer; 0 if the connection ended.
func (e *env) raw(text string) int {
	e.t.Helper()
	connection, err := new(net.Dialer).DialContext(e.t.Context(), "tcp", e.options.Address)
	require.NoError(e.t, err)
	defer func() { _ = connection.Close() }()
	require.NoError(e.t, connection.SetDeadline(time.Now().Add(testkit.Timeout)))
	_, _ = io.WriteString(connection, text) // the gateway may answer before it has read all
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestTricksWithPathsReachNothing(t *testing.T) {
	e := newEnv(t)
	volume := e.attachedVolume("vol", "node-1")
	long := strings.Repeat("a", 40<<10)
	for _, path := range []string{"/v1/volumes/../settings/vol", "/v1/./volumes/vol", "//v1/volumes/vol", "/v1/nodes/..%2fvolumes%2fvol",
		"/v1/volumes/%2e%2e/volumes/vol", "/v1/volumes/vol%00", "/v1/volumes/vol/", "/v1/volumes/vol%2f", "/V1/volumes/vol",
		"/v1/volumes/VOL", "/v1/volumes/vol;x", "/v1/volumes/%25%32%65", "/v1/volumes/../../api/v1/namespaces/" + e.namespace + "/secrets",
		"/apis/longhorn.io/v1beta2/namespaces/" + e.namespace + "/volumes/vol", "http://127.0.0.1/v1/volumes/..", "/v1/volumes/" + long,
		"/v1/volumes/\\..\\vol", "*", "/v1/volumes/vol x"} {
		for _, method := range []string{"DELETE", "POST", "PUT", "PATCH", "TRACE", "CONNECT", "delete"} {
			code := e.raw(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nX-HTTP-Method-Override: DELETE\r\nConnection: close\r\n" +
				"Content-Length: 2\r\n\r\n{}")
			require.False(t, code >= 200 && code < 300, "%s %s: %d", method, path, code)
		}
	}
	require.Contains(t, []int{http.StatusRequestHeaderFieldsTooLarge, 0},
		e.raw("GET /v1/volumes HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("a", 1<<20)+"\r\n\r\n"))
	require.Equal(t, http.StatusBadRequest, e.raw("GET /v1/volumes HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"))
	require.Equal(t, http.StatusBadRequest, e.raw("DELETE /v1/volumes/vol HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"+
		"Content-Length: 2\r\n\r\n{}"))
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(volume), &v1beta2.Volume{}))
	e.nothingWritten()
}

func TestPagesOfOtherSitesChangeNothing(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("vol", "node-1")
	for _, header := range [][]string{{"Origin", "https://evil.example.com"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"},
		{"Origin", "http://127.0.0.1.example.com"}, {"Origin", "http://" + e.options.Address + ".example.com"}} {
		for method, path := range map[string]string{http.MethodPost: "/v1/volumes", http.MethodDelete: "/v1/volumes/vol",
			http.MethodPut: "/v1/settings/storage-network"} {
			code, body, _ := e.send(method, path, `{"name":"x","size":"1Gi"}`, append(header, "Content-Type", "text/plain")...)
			require.Equal(t, http.StatusForbidden, code, "%s %v: %s", method, header, body)
		}
	}
	e.nothingWritten()
}

func TestAFloodOfStreamsIsCutOff(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.Streams, e.options.RequestsPerSecond, e.options.Burst = 50, 10000, 10000 })
	e.attachedVolume("vol", "node-1")
	before := heap()
	open := 0
	for range 300 {
		stream, response, err := websocket.Dial(t.Context(), e.base+"/v1/ws/volumes", nil)
		if err != nil {
			require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
			continue
		}
		open++
		t.Cleanup(func() { _ = stream.CloseNow() })
	}
	require.Equal(t, 50, open)
	require.Less(t, heap()-before, int64(32<<20))
	e.server.limits.mutex.Lock()
	e.server.options.Streams = 1000
	e.server.limits.options.Streams = 1000
	e.server.limits.mutex.Unlock()
	sender := e.dial("/v1/ws/nodes")
	e.next(sender)
	for range 1000 { // what a client sends is dropped
		require.NoError(t, sender.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", 1<<10))))
	}
	_ = sender.Write(t.Context(), websocket.MessageText, make([]byte, 1<<20)) // the gateway may end the stream while this is sent
	var err error
	for err == nil {
		_, _, err = sender.Read(t.Context())
	}
	require.True(t, websocket.CloseStatus(err) == websocket.StatusMessageTooBig || !errors.Is(err, context.Canceled), err)
	require.Less(t, heap()-before, int64(32<<20))
	e.nothingWritten()
}

// TestTenThousandSlowClientsKeepNobodyOut opens connections from 50 addresses, each of which begins a request and never ends it. The CSI
// plugin is answered meanwhile, and everybody afterwards.
func TestTenThousandSlowClientsKeepNobodyOut(t *testing.T) {
	const clients, addresses = 10000, 50
	e := newEnv(t)
	e.plays("plugin", "longhorn-csi-plugin", "127.0.0.2", false)
	require.Eventually(t, func() bool { return e.server.isTrusted(t.Context(), "127.0.0.2") }, testkit.Timeout, testkit.Poll)
	before := heap()
	var slow []net.Conn
	for n := range clients {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(n%addresses+1))}, Timeout: testkit.Timeout}
		connection, err := dialer.DialContext(t.Context(), "tcp", e.options.Address)
		require.NoError(t, err)
		_, _ = fmt.Fprintf(connection, "POST /v1/volumes HTTP/1.1\r\nHost: localhost\r\nX-%d: ", n) // it may be closed already
		slow = append(slow, connection)
		if n%1000 == 999 {
			require.Equal(t, http.StatusOK, e.from("127.0.0.2", "/v1/volumes"), "after %d slow clients", n+1)
		}
	}
	used := heap() - before
	t.Logf("%d slow clients: %d KiB of heap, the clients' own included", clients, used>>10)
	require.Less(t, used, int64(64<<20))
	for _, connection := range slow {
		_ = connection.Close()
	}
	require.Eventually(t, func() bool { return e.from("127.0.0.5", "/v1/volumes") == http.StatusOK }, testkit.Timeout, testkit.Poll)
	e.nothingWritten()
}
