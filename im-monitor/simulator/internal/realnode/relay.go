package realnode

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// relay passes connections on as they are, for callers that speak TLS with the servers.
type relay struct {
	ports  []int
	behind func(address string, port int) string

	mutex sync.Mutex
	open  map[string]map[io.Closer]bool // listeners and connections by address
}

func newRelay(ports []int, behind func(string, int) string) *relay {
	return &relay{ports: ports, behind: behind, open: map[string]map[io.Closer]bool{}}
}

// Serve listens on the address. A second call for the same address does nothing.
func (r *relay) Serve(address string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.open[address] != nil {
		return nil
	}
	all := map[io.Closer]bool{}
	for _, port := range r.ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		if err != nil {
			for open := range all {
				err = errors.Join(err, open.Close())
			}
			return fmt.Errorf("listening before the instance manager: %w", err)
		}
		all[listener] = true
		go r.accept(listener, address, port)
	}
	r.open[address] = all
	return nil
}

// accept passes on each connection to one port, until the listener is closed.
func (r *relay) accept(listener net.Listener, address string, port int) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		go r.pass(from, address, port)
	}
}

// pass connects both ends until either of them closes, or the address is forgotten.
func (r *relay) pass(from net.Conn, address string, port int) {
	to, err := net.DialTimeout("tcp", r.behind(address, port), callTime)
	if err != nil {
		_ = from.Close() // the caller sees that its connection ends
		return
	}
	if !r.keep(address, from, to) {
		return
	}
	ended := make(chan struct{}, 2)
	for _, ends := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(ends[0], ends[1]) // either end closed it
			ended <- struct{}{}
		}()
	}
	<-ended
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, end := range []net.Conn{from, to} {
		delete(r.open[address], end)
		_ = end.Close() // it may be closed
	}
}

// keep remembers the ends of a connection, so that Forget closes them; it closes them at once if the address is forgotten.
func (r *relay) keep(address string, ends ...net.Conn) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, end := range ends {
		if r.open[address] == nil {
			_ = end.Close() // nobody uses it yet
			continue
		}
		r.open[address][end] = true
	}
	return r.open[address] != nil
}

// Forget stops listening on the address and closes its connections.
func (r *relay) Forget(address string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for open := range r.open[address] {
		_ = open.Close() // a connection may have been closed
	}
	delete(r.open, address)
}

// Close stops listening on every address.
func (r *relay) Close() {
	r.mutex.Lock()
	addresses := make([]string, 0, len(r.open))
	for address := range r.open {
		addresses = append(addresses, address)
	}
	r.mutex.Unlock()
	for _, address := range addresses {
		r.Forget(address)
	}
}
