package enginecontroller

import (
	"maps"
	"sync"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// memory is what this process remembers of engines between two looks. Nothing in it is needed to be right: a new leader
// starts without.
type memory struct {
	mu sync.Mutex
	of map[string]*remembered
}

type remembered struct {
	run       place
	seen      bool
	unsettled time.Time
	failures  map[string]int
	waits     map[string]time.Time
	adding    *addition
}

// addition is a call that adds a replica and may last as long as the rebuild.
type addition struct {
	name       string
	cancel     func()
	progress   int
	progressAt time.Time
}

func (m *memory) entry(name string) *remembered {
	if m.of == nil {
		m.of = map[string]*remembered{}
	}
	r := m.of[name]
	if r == nil {
		r = &remembered{failures: map[string]int{}, waits: map[string]time.Time{}}
		m.of[name] = r
	}
	return r
}

// view is a copy of what is remembered of one engine.
type view struct {
	first     bool
	unsettled time.Time
	failures  map[string]int
	waits     map[string]time.Time
	adding    string
}

// view copies what is remembered of this run of the engine; what was of another run is forgotten.
func (m *memory) view(e *v1beta2.Engine) view {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(e.Name)
	if run := where(e); r.run != run {
		r.stop()
		*r = remembered{run: run, unsettled: r.unsettled, failures: map[string]int{}, waits: map[string]time.Time{}}
	}
	for name := range r.failures {
		if _, mapped := e.Spec.ReplicaAddressMap[name]; !mapped {
			delete(r.failures, name)
			delete(r.waits, name)
		}
	}
	out := view{first: !r.seen, unsettled: r.unsettled, failures: maps.Clone(r.failures), waits: maps.Clone(r.waits)}
	if r.adding != nil {
		out.adding = r.adding.name
	}
	return out
}

func (r *remembered) stop() {
	if r.adding != nil {
		r.adding.cancel()
		r.adding = nil
	}
}

// forget drops an engine that does not run.
func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.of[name]; r != nil {
		r.stop()
		delete(m.of, name)
	}
}

func (m *memory) saw(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(name).seen = true
}

func (m *memory) unsettle(name string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(name).unsettled = until
}

// failed notes that a call failed, and when the next one may come.
func (m *memory) failed(name, key string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	wait := failureDelayMax
	if n := r.failures[key]; n < 6 {
		wait = min(failureDelay<<n, failureDelayMax)
	}
	r.failures[key]++
	r.waits[key] = now.Add(wait)
}

// begin notes that a replica is being added; false where another one is.
func (m *memory) begin(name string, a *addition) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	if r.adding != nil {
		return false
	}
	r.adding = a
	return true
}

func (m *memory) end(name string, a *addition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.of[name]; r != nil && r.adding == a {
		r.adding = nil
	}
}

// stuck notes how far the rebuild is, and tells that it made no progress for too long.
func (m *memory) stuck(name string, progress int, now time.Time, patience time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[name]
	if r == nil || r.adding == nil {
		return false
	}
	if progress != r.adding.progress {
		r.adding.progress, r.adding.progressAt = progress, now
	}
	return now.Sub(r.adding.progressAt) > patience
}

// giveUp ends the call that adds a replica.
func (m *memory) giveUp(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.of[name]; r != nil {
		r.stop()
	}
}
