package upgradecontroller

import (
	"sync"
	"time"
)

const (
	// restFactor is how many times as long as a decision took no other one is made about the same upgrade, within the two limits. A decision
	// costs as much as the volumes of the node, and each of them has dozens of events: one decision for each event would make an upgrade
	// cost the square of its volumes.
	restFactor          = 4
	leastRest, mostRest = 20 * time.Millisecond, 500 * time.Millisecond
)

// pace keeps the decisions about one upgrade apart. Events in the meantime are decided on together; none is lost, because a decision reads
// everything.
type pace struct {
	mutex sync.Mutex
	until map[string]time.Time
}

// left is how long no decision about an upgrade is made; zero means that one is made now.
func (p *pace) left(name string, now time.Time) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return max(p.until[name].Sub(now), 0)
}

// decided records how long a decision took that is done by now. One that failed is not recorded: it is repeated with growing pauses.
func (p *pace) decided(name string, took time.Duration, now time.Time) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.until == nil {
		p.until = map[string]time.Time{}
	}
	p.until[name] = now.Add(min(max(restFactor*took, leastRest), mostRest))
}

// forget drops an upgrade that is gone.
func (p *pace) forget(name string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.until, name)
}
