package gateway

import (
	"net"
	"net/http"
	"sync"
)

// fairListener closes connections above its limit at once, and connections of a client address that holds its share already: clients that
// open many and send nothing would keep all others out, and pods would not mount. The pods that need no token have a limit of their own,
// which no other client uses up.
type fairListener struct {
	net.Listener
	most      int
	isTrusted func(address string) bool
	metrics   *metrics

	mutex sync.Mutex
	// open counts connections by address; others and trusted are the sums.
	open            map[string]int
	others, trusted int
}

// newFairListener returns a listener that lets trusted clients, and all others together, hold that many connections, and an address half
// of them.
func newFairListener(inner net.Listener, connections int, isTrusted func(address string) bool, m *metrics) *fairListener {
	return &fairListener{Listener: inner, most: connections, isTrusted: isTrusted, metrics: m, open: map[string]int{}}
}

// Accept implements net.Listener.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		connection, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address := hostOf(connection.RemoteAddr().String())
		sum := &l.others
		if l.isTrusted(address) {
			sum = &l.trusted
		}
		if l.take(address, sum) {
			return &countedConnection{Conn: connection, release: sync.OnceFunc(func() { l.release(address, sum) })}, nil
		}
		l.metrics.refuse(http.StatusTooManyRequests)
		_ = connection.Close() // the connection is refused: an error changes nothing
	}
}

func (l *fairListener) take(address string, sum *int) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if *sum >= l.most || l.open[address] >= max(1, l.most/2) {
		return false
	}
	l.open[address]++
	*sum++
	return true
}

func (l *fairListener) release(address string, sum *int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	*sum--
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
