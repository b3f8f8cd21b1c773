package execute

import (
	"sync"
	"time"

	"drover.dev/drover/shared/retry"
)

// Backoff is a wait that doubles with every try.
type Backoff struct{ First, Most time.Duration }

// After returns the wait after so many tries in a row: even before the first try it is the shortest wait.
func (b Backoff) After(tries int) time.Duration {
	return retry.Pause{First: b.First, Longest: b.Most}.After(max(tries, 1))
}

// The waits between two tries.
var (
	// AfterFailure follows tries that brought no accepted call.
	AfterFailure = Backoff{First: time.Second, Most: time.Minute}
	// AfterDeletion follows a deletion that the server took: the instance gets time to end.
	AfterDeletion = Backoff{First: 10 * time.Second, Most: 5 * time.Minute}
)

// Tries counts the tries of one call, for its back-off.
type Tries struct {
	// Failures counts tries without an accepted call since the last accepted one, Calls the accepted ones.
	Failures, Calls int
	// NotBefore is when the next try is due.
	NotBefore time.Time
}

// Fail notes a try that brought no accepted call.
func (t *Tries) Fail(now time.Time) {
	t.Failures++
	t.NotBefore = now.Add(AfterFailure.After(t.Failures))
}

// Accept notes a call that the server took, which ends a row of failures. The instance gets time, more each time.
func (t *Tries) Accept(wait Backoff, now time.Time) {
	t.Failures = 0
	t.Calls++
	t.NotBefore = now.Add(wait.After(t.Calls))
}

// Memory is what this process knows of its tries, by key. All of it may be lost. The zero value is ready for use.
type Memory[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

// Of is what is remembered of a key; the zero value where that is nothing.
func (m *Memory[K, V]) Of(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[key]
}

// Known reports whether something is remembered of a key.
func (m *Memory[K, V]) Known(key K) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.m[key]
	return ok
}

// Change modifies what is remembered of a key, from the zero value where that was nothing, and returns it.
func (m *Memory[K, V]) Change(key K, f func(*V)) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[K]V{}
	}
	v := m.m[key]
	f(&v)
	m.m[key] = v
	return v
}

// ChangeKnown modifies what is remembered of a key, if that is anything, and returns what f does.
func (m *Memory[K, V]) ChangeKnown(key K, f func(*V) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.m[key]
	if !ok {
		return false
	}
	changed := f(&v)
	m.m[key] = v
	return changed
}

// ChangeAll modifies what is remembered of every key, and returns the keys for which f returned true.
func (m *Memory[K, V]) ChangeAll(f func(K, *V) bool) []K {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []K
	for key, v := range m.m {
		if f(key, &v) {
			out = append(out, key)
		}
		m.m[key] = v
	}
	return out
}

// Forget drops what is remembered of a key.
func (m *Memory[K, V]) Forget(key K) { m.ForgetIf(key, func(V) bool { return true }) }

// ForgetIf drops what is remembered of a key if f returns true for it.
func (m *Memory[K, V]) ForgetIf(key K, f func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f(m.m[key]) {
		delete(m.m, key)
	}
}
