package backupexecutor

import (
	"maps"
	"sync"
	"time"
)

// memory is what this process remembers of backups, by engine and name. It may be lost without harm.
type memory struct {
	mu sync.Mutex
	of map[string]*remembered
}

type remembered struct {
	// open is until when an unanswered call may be in progress; silent counts consecutive answers without the backup.
	open   map[string]time.Time
	silent map[string]int
}

func (m *memory) entry(engine string) *remembered {
	if m.of == nil {
		m.of = map[string]*remembered{}
	}
	if m.of[engine] == nil {
		m.of[engine] = &remembered{open: map[string]time.Time{}, silent: map[string]int{}}
	}
	return m.of[engine]
}

// calls are those that may be in progress now.
func (m *memory) calls(engine string, now time.Time) map[string]time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[engine]
	if r == nil {
		return nil
	}
	maps.DeleteFunc(r.open, func(_ string, until time.Time) bool { return now.After(until) })
	return maps.Clone(r.open)
}

func (m *memory) unanswered(engine, name string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(engine).open[name] = until
}

func (m *memory) heard(engine, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.of[engine]; r != nil {
		delete(r.silent, name)
		delete(r.open, name)
	}
}

func (m *memory) missed(engine, name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.entry(engine)
	r.silent[name]++
	return r.silent[name]
}

// forget drops an engine that does not run.
func (m *memory) forget(engine string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, engine)
}

// Forget drops the memory of an engine that does not run.
func (h *Executor) Forget(engine string) { h.memory.forget(engine) }
