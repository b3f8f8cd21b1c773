package serve

import (
	"errors"
	"net"
	"sync"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// Endpoint is one server's presence on the network: its listeners and connections, and whether anything passes.
type Endpoint struct {
	servers *Servers
	server  *dataplane.Server
	image   string
	log     *logSettings

	mu        sync.Mutex
	closed    bool
	cut       bool
	listeners []net.Listener
	conns     map[*conn]bool
	open      chan struct{} // closed while data passes
	dark      bool
}

// Open listens on the pod's address and serves until Close. Its image decides which ports speak TLS; empty is the newest one.
func (s *Servers) Open(server *dataplane.Server, image string) (*Endpoint, error) {
	e := &Endpoint{servers: s, server: server, image: image, log: newLogSettings(), conns: map[*conn]bool{}, open: make(chan struct{})}
	close(e.open)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.listen(); err != nil {
		return nil, err
	}
	go e.follow()
	return e, nil
}

// Target is the endpoint as faults know it.
func (e *Endpoint) Target() fault.Target {
	return fault.Target{Node: e.server.Node(), Pod: e.server.Pod(), DataEngine: e.server.DataEngine()}
}

// listen opens every port; the lock is held.
func (e *Endpoint) listen() error {
	for _, number := range portsOf(e.server.DataEngine()) {
		l, err := e.servers.listen(e.server.IP(), number)
		if err != nil {
			return errors.Join(err, e.hangUp())
		}
		e.listeners = append(e.listeners, l)
		go e.accept(l, e.servers.ports[number].funnel)
	}
	return nil
}

// accept passes connections to the service's server until the listener is closed.
func (e *Endpoint) accept(l net.Listener, f *funnel) {
	for {
		raw, err := l.Accept()
		if err != nil {
			return
		}
		c := &conn{Conn: raw, endpoint: e, gone: make(chan struct{})}
		e.mu.Lock()
		refused := e.closed || e.cut
		if !refused {
			e.conns[c] = true
		}
		e.mu.Unlock()
		if refused || !f.give(c) {
			e.servers.quiet(c.Close())
		}
	}
}

// follow puts partitions in force as the rules change.
func (e *Endpoint) follow() {
	for {
		changed := e.servers.options.Faults.Changed()
		rule, partitioned := e.servers.options.Faults.Poll(fault.Partition, e.Target(), "")
		if !e.apply(partitioned, rule.Mode) {
			return
		}
		select {
		case <-changed:
		case <-e.server.Done():
			return
		}
	}
}

// apply makes the link as the rules want it; false means that the endpoint is closed.
func (e *Endpoint) apply(partitioned bool, mode string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.darken(partitioned && mode == "blackhole")
	cut := partitioned && mode == "cut"
	if cut && !e.cut {
		e.servers.quiet(e.hangUp())
	}
	if !cut && e.cut {
		if err := e.listen(); err != nil {
			e.servers.options.Log.Error("listening again after a partition", "node", e.server.Node(), "pod", e.server.Pod(), "error", err)
			return true
		}
	}
	e.cut = cut
	return true
}

// darken holds everything back that comes or goes, or lets it pass again; the lock is held.
func (e *Endpoint) darken(dark bool) {
	switch {
	case dark && !e.dark:
		e.open = make(chan struct{})
	case !dark && e.dark:
		close(e.open)
	}
	e.dark = dark
}

// hangUp closes the listeners and every connection; the lock is held.
func (e *Endpoint) hangUp() error {
	var errs []error
	for _, l := range e.listeners {
		errs = append(errs, l.Close())
	}
	e.listeners = nil
	for c := range e.conns {
		errs = append(errs, c.sever())
	}
	e.conns = map[*conn]bool{}
	return errors.Join(errs...)
}

// Close ends listeners and connections, as the death of the process does.
func (e *Endpoint) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.servers.quiet(e.hangUp())
}

func (e *Endpoint) gate() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}

// quiet logs an error that no one can do anything about.
func (s *Servers) quiet(err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		s.options.Log.Debug("closing a connection", "error", err)
	}
}
