package enginecontroller

import (
	"errors"
	"sync"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// pool keeps one connection for each instance manager that runs an engine. One that failed is closed and made anew.
type pool struct {
	connect Connect
	mu      sync.Mutex
	open    map[string]*imclient.Proxy
}

func (p *pool) get(address string) (*imclient.Proxy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.open[address]; known != nil {
		return known, nil
	}
	made, err := p.connect(address)
	if err != nil {
		return nil, err
	}
	if p.open == nil {
		p.open = map[string]*imclient.Proxy{}
	}
	p.open[address] = made
	return made, nil
}

// failed drops a connection over which nobody answered; calls that still run on it end.
func (p *pool) failed(address string, proxy *imclient.Proxy, err error) {
	if !errors.Is(err, imclient.ErrUnreachable) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[address] == proxy {
		delete(p.open, address)
		_ = proxy.Close() // it is of no use any more, whatever this says
	}
}
