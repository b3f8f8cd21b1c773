package execute

import "sync"

// Key names a runtime instance by its place and name.
type Key struct{ InstanceManager, Name string }

// Locks serialises what changes one runtime instance: its start, its stop and its deletion. All executors of the process that touch
// (instance manager, name) share one. The zero value is ready for use.
type Locks struct {
	mu   sync.Mutex
	held map[Key]struct{}
}

// TryLock takes the instance, or reports that another executor has it: come back later. The returned function gives it back
// and may be called more than once.
func (l *Locks) TryLock(key Key) (unlock func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.held[key]; taken {
		return func() {}, false
	}
	if l.held == nil {
		l.held = map[Key]struct{}{}
	}
	l.held[key] = struct{}{}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
	}), true
}
