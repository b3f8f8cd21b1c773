package enginecontroller

import (
	"maps"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// memory is what this process remembers of engines between two polls. Nothing in it is needed to be right: a new leader
// starts without.
type memory struct {
	mu sync.Mutex
	of map[string]*remembered
}

type remembered struct {
	run       place
	seen      bool
	unsettled time.Time
	// failures counts additions that failed, by the replica's name; tries are all calls, however they ended.
	failures map[string]int
	tries    map[engine.Key]try
	adding   *addition
	rebuild  progress
	// room is that of the run's backends; nil is not read yet.
	room   *volumesize.Room
	over   map[string]time.Time
	growth engine.Growth
	// waitsFor is what the engine's work was last reported to wait for.
	waitsFor string
	// purging: a purge of ours is under way; purged are the snapshots that the last accepted one was for, due those of the last verdict.
	// held is what was last reported of additions.
	purging           bool
	purged, due, held string
}

// try is how often a call was made, until when it is not made again, and what was answered if it failed.
type try struct {
	times  int
	until  time.Time
	failed string
}

// addition is a call that adds a replica and may last as long as the rebuild.
type addition struct {
	name   string
	cancel func()
	// accepted: a poll listed the replica while the call was open. ended is closed at the end of the call.
	accepted bool
	ended    chan struct{}
}

// progress is how far the rebuild of a replica is, and since when.
type progress struct {
	name    string
	percent int
	since   time.Time
}

func newRemembered() *remembered {
	return &remembered{failures: map[string]int{}, tries: map[engine.Key]try{}}
}

func (m *memory) entry(name string) *remembered {
	if m.of == nil {
		m.of = map[string]*remembered{}
	}
	r := m.of[name]
	if r == nil {
		r = newRemembered()
		m.of[name] = r
	}
	return r
}

// view is a copy of what is remembered of one engine.
type view struct {
	first     bool
	unsettled time.Time
	failures  map[string]int
	waits     map[engine.Key]time.Time
	failed    map[engine.Key]string
	adding    string
	over      map[string]time.Time
	growth    engine.Growth
	purging   bool
	purged    string
}

// view copies what is remembered of this run of the engine; what was of another run is forgotten.
func (m *memory) view(e *v1beta2.Engine, now time.Time) view {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(e.Name)
	if run := where(e); r.run != run {
		r.stop()
		unsettled := r.unsettled
		r = newRemembered()
		r.run, r.unsettled = run, unsettled
		m.of[e.Name] = r
	}
	r.prune(e, now)
	out := view{first: !r.seen, unsettled: r.unsettled, failures: maps.Clone(r.failures), waits: map[engine.Key]time.Time{},
		failed: map[engine.Key]string{}, over: r.over,
		growth: r.growth, purging: r.purging, purged: r.purged}
	for key, t := range r.tries {
		out.waits[key] = t.until
		if t.failed != "" {
			out.failed[key] = t.failed
		}
	}
	if r.adding != nil {
		out.adding = r.adding.name
	}
	return out
}

// prune forgets additions that came to their end or are not wanted any more, and other calls that were made long ago.
func (r *remembered) prune(e *v1beta2.Engine, now time.Time) {
	over := func(name string) bool {
		_, mapped := e.Spec.ReplicaAddressMap[name]
		return !mapped || e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeRW
	}
	maps.DeleteFunc(r.failures, func(name string, _ int) bool { return over(name) })
	maps.DeleteFunc(r.tries, func(key engine.Key, t try) bool {
		return key.Op == engine.OpAdd && over(key.Name) || now.After(t.until.Add(2*execute.AfterFailure.Most))
	})
	if r.adding != nil {
		if _, mapped := e.Spec.ReplicaAddressMap[r.adding.name]; !mapped {
			r.stop()
		}
	}
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

func (m *memory) room(name string) *volumesize.Room {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entry(name).room
}

func (m *memory) keepRoom(name string, room *volumesize.Room) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(name).room = room
}

// polled notes what a poll found, and reports whether it found another reason than before to add no replica.
func (m *memory) polled(name string, v engine.Verdict, purges map[string]v1beta2.PurgeStatus) (held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	r.over, r.growth = v.Over, v.Growth
	if purges != nil && !v1beta2.IsPurging(purges) {
		r.purging = false
	}
	r.due = v.Purged
	held, r.held = v.Held != "" && v.Held != r.held, v.Held
	if r.adding != nil && v.Status.ReplicaModeMap[r.adding.name] == v1beta2.ReplicaModeWO {
		r.adding.accepted = true
	}
	return held
}

// heldBy notes what the engine's work waits for, and reports whether that is another reason than before.
func (m *memory) heldBy(name, why string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	before := r.waitsFor
	r.waitsFor = why
	return before != why
}

// accepted notes that the engine accepted an expansion, or a purge.
func (m *memory) accepted(name string, call engine.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r := m.entry(name); call.Op {
	case engine.OpExpand:
		r.growth = engine.Growth{To: call.Size}
	case engine.OpPurge:
		r.purging = true
		if r.due != "" {
			r.purged = r.due
		}
	}
}

// saw notes that what a poll found was written.
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

// tried notes that a call was made, and when it may be made again: what came of it is seen by then.
func (m *memory) tried(name string, key engine.Key, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	t := r.tries[key]
	r.tries[key] = try{t.times + 1, now.Add(execute.AfterFailure.After(t.times + 1)), t.failed}
}

// answered notes how the last try of a call ended; empty: well.
func (m *memory) answered(name string, key engine.Key, failed string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	if t, ok := r.tries[key]; ok {
		t.failed = failed
		r.tries[key] = t
	}
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

// end notes that the call ended, and whether the replica could not be added; an aborted addition does not count.
func (m *memory) end(name string, a *addition, failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[name]
	if r == nil || r.adding != a {
		return
	}
	r.adding = nil
	if failed {
		r.failures[a.name]++
	}
}

// stuck notes how far the rebuild of a replica is, and reports that it made no progress for too long: it counts as failed
// for good then, and the call that it hangs in ends.
func (m *memory) stuck(name, replica string, percent int, now time.Time, patience time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(name)
	if r.rebuild.name != replica || r.rebuild.percent != percent {
		r.rebuild = progress{replica, percent, now}
	}
	if replica == "" || r.failures[replica] >= engine.FailuresToErr || now.Sub(r.rebuild.since) <= patience {
		return false
	}
	r.stop()
	r.failures[replica] = engine.FailuresToErr
	return true
}
