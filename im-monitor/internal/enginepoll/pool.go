package enginepoll

import (
	"errors"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// idleEnd is how long a connection is kept that no one uses: its instance manager runs no engine any more.
const idleEnd = 10 * time.Minute

// pool keeps one connection for each instance manager that runs an engine. One whose transport is lost is closed and created again.
type pool struct {
	connect Connect
	mu      sync.Mutex
	open    map[string]*pooled
	swept   time.Time
}

type pooled struct {
	proxy *imclient.Proxy
	used  time.Time
}

func (p *pool) get(address string, now time.Time) (*imclient.Proxy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	if known := p.open[address]; known != nil {
		known.used = now
		return known.proxy, nil
	}
	made, err := p.connect(address)
	if err != nil {
		return nil, err
	}
	if p.open == nil {
		p.open = map[string]*pooled{}
	}
	p.open[address] = &pooled{made, now}
	return made, nil
}

// sweep closes, now and then, what no one uses; the lock is held.
func (p *pool) sweep(now time.Time) {
	if now.Sub(p.swept) < idleEnd {
		return
	}
	p.swept = now
	for address, known := range p.open {
		if now.Sub(known.used) >= idleEnd {
			p.drop(address)
		}
	}
}

// failed drops the connection of a call that was not answered if its transport is lost. Else that concerns the engine alone: the calls of
// others go on.
func (p *pool) failed(over way, err error) {
	if !errors.Is(err, imclient.ErrUnreachable) || !over.proxy.Lost() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.open[over.manager]; known != nil && known.proxy == over.proxy {
		p.drop(over.manager)
	}
}

func (p *pool) drop(address string) {
	_ = p.open[address].proxy.Close() // it is of no use any more, whatever this reports
	delete(p.open, address)
}
