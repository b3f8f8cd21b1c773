package snapshotexecutor

import (
	"maps"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
)

// memory is what this process remembers of runs of engines, by the engine's name.
type memory struct {
	mu sync.Mutex
	of map[string]*run
}

type run struct {
	id string
	enginesnapshot.Memory
	// takes and removes count calls without the requested effect.
	takes   map[string]int
	removes int
	// silent counts consecutive removals that the engine did not answer.
	silent int
}

// reported records the snapshots of a run that Engine.status has although a poll did not list them.
func (m *memory) reported(l Poll, unlisted map[string]time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runOf(l).Unlisted = unlisted
}

// runOf is the memory of this run, which begins empty; the lock is held.
func (m *memory) runOf(l Poll) *run {
	r := m.of[l.Engine.Name]
	if r == nil || r.id != l.Run {
		r = &run{id: l.Run, takes: map[string]int{}}
		m.of = with(m.of, l.Engine.Name, r)
	}
	return r
}

// of this run; the memory of another run is dropped, except for calls that may still be in progress.
func (m *memory) view(l Poll) enginesnapshot.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[l.Engine.Name]
	if r == nil || r.id != l.Run {
		return enginesnapshot.Memory{}
	}
	out := r.Memory
	out.Called, out.Open, out.TakeAfter = maps.Clone(r.Called), maps.Clone(r.Open), maps.Clone(r.TakeAfter)
	out.Removed, out.Purged = maps.Clone(r.Removed), maps.Clone(r.Purged)
	return out
}

func (m *memory) keep(l Poll, after enginesnapshot.Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runOf(l)
	r.Memory = after
	maps.DeleteFunc(r.takes, func(name string, _ int) bool { _, there := after.TakeAfter[name]; return !there })
	if after.Deleting == 0 {
		r.removes, r.RemoveAfter = 0, time.Time{}
	}
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, name)
}

// took records a call that takes a snapshot; open is until when the server may execute it if it was not answered.
func (m *memory) took(l Poll, name string, now, open time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[l.Engine.Name]
	r.Called = with(r.Called, name, true)
	// After a call the next one of its kind waits, longer each time, until the requested change is listed.
	r.TakeAfter = with(r.TakeAfter, name, now.Add(execute.AfterFailure.After(r.takes[name]+1)))
	r.takes[name]++
	if !open.IsZero() {
		r.Open = with(r.Open, name, open)
	}
}

// removed records a call that removes snapshots, and whether the engine accepted it.
func (m *memory) removed(l Poll, names []string, now time.Time, accepted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[l.Engine.Name]
	r.RemoveAfter = now.Add(execute.AfterFailure.After(r.removes + 1))
	r.removes++
	if accepted {
		r.silent = 0
	}
	for _, name := range names {
		if accepted {
			r.Removed = with(r.Removed, name, now)
		}
	}
}

// unanswered records a removal that the engine did not answer, and returns the number of consecutive ones.
func (m *memory) unanswered(l Poll) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runOf(l)
	r.silent++
	return r.silent
}

// purged records a call that purges for these snapshots, and whether the engine accepted it.
func (m *memory) purged(l Poll, names []string, now time.Time, accepted bool) {
	m.removed(l, nil, now, accepted)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[l.Engine.Name]
	for _, name := range names {
		if accepted {
			r.Purged = with(r.Purged, name, now)
		}
	}
}

// with puts a value into a map, which may be nil.
func with[V any](m map[string]V, name string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[name] = v
	return m
}
