// Package pace keeps repetitions of costly work on one object apart, by what the last one took: one repetition for each event would make
// the work grow with the square of what the object contains.
package pace

import (
	"sync"
	"time"
)

// Pace keeps the repetitions of work apart, of each name for itself. What becomes due in a rest is done together after it. Several
// goroutines may use it.
type Pace struct {
	// Factor is how many times as long as the work took it rests afterwards, within Least and Most.
	Factor      time.Duration
	Least, Most time.Duration

	mutex sync.Mutex
	until map[string]time.Time
}

// Left is how long the work on a name rests; zero means that it may be done now.
func (p *Pace) Left(name string, now time.Time) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return max(p.until[name].Sub(now), 0)
}

// Done records how long the work on a name took that is done by now.
func (p *Pace) Done(name string, took time.Duration, now time.Time) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.until == nil {
		p.until = map[string]time.Time{}
	}
	p.until[name] = now.Add(min(max(p.Factor*took, p.Least), p.Most))
}

// Forget drops a name that is gone.
func (p *Pace) Forget(name string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.until, name)
}
