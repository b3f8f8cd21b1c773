package gateway

import (
	"net"
	"net/http"
	"sync"
)

// fairListener closes connections of a client address that holds its share of all already: one client that opens many and sends nothing
// would keep all others out, and pods would not mount.
type fairListener struct {
	net.Listener
	most    int
	metrics *metrics

	mutex sync.Mutex
	open  map[string]int
}

// newFairListener returns a listener that lets one address hold half of the connections.
func newFairListener(inner net.Listener, connections int, m *metrics) *fairListener {
	return &fairListener{Listener: inner, most: max(1, connections/2), metrics: m, open: map[string]int{}}
}

// Accept implements net.Listener.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		connection, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address := hostOf(connection.RemoteAddr().String())
		if l.take(address) {
			return &countedConnection{Conn: connection, release: sync.OnceFunc(func() { l.release(address) })}, nil
		}
		l.metrics.refuse(http.StatusTooManyRequests)
		_ = connection.Close() // the connection is refused: an error changes nothing
	}
}

func (l *fairListener) take(address string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.open[address] >= l.most {
		return false
	}
	l.open[address]++
	return true
}

func (l *fairListener) release(address string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.open[address]--
	if l.open[address] == 0 {
		delete(l.open, address)
	}
}

// countedConnection is a connection that counts until it is closed.
type countedConnection struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *countedConnection) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
