package serve

import (
	"net"
	"sync"
)

// conn is a connection that a blackhole can hold up. Bytes that arrived before it closed are delivered after it.
type conn struct {
	net.Conn
	endpoint *Endpoint
	gone     chan struct{}
	once     sync.Once
}

// Read waits while the endpoint is dark.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write waits while the endpoint is dark.
func (c *conn) Write(b []byte) (int, error) {
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// pass waits until data passes; false means that the connection was closed meanwhile.
func (c *conn) pass() bool {
	select {
	case <-c.endpoint.gate():
		return true
	case <-c.gone:
		return false
	}
}

// Close ends the connection.
func (c *conn) Close() error {
	c.endpoint.mu.Lock()
	delete(c.endpoint.conns, c)
	c.endpoint.mu.Unlock()
	return c.sever()
}

// sever closes without the endpoint's lock.
func (c *conn) sever() (err error) {
	c.once.Do(func() {
		close(c.gone)
		err = c.Conn.Close()
	})
	return err
}

// LocalAddr carries the endpoint to the handlers.
func (c *conn) LocalAddr() net.Addr {
	return endpointAddr{Addr: c.Conn.LocalAddr(), endpoint: c.endpoint}
}

type endpointAddr struct {
	net.Addr
	endpoint *Endpoint
}

// funnel is a listener that is given its connections.
type funnel struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newFunnel() *funnel { return &funnel{conns: make(chan net.Conn), closed: make(chan struct{})} }

// give passes a connection on; false means that the listener is closed.
func (f *funnel) give(c net.Conn) bool {
	select {
	case f.conns <- c:
		return true
	case <-f.closed:
		return false
	}
}

// Accept waits for a connection.
func (f *funnel) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (f *funnel) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

// Addr is that of no real listener.
func (f *funnel) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }
