package execute

import "sync"

// Semaphore bounds how many operations run at once per instance manager. The zero value is ready for use.
type Semaphore struct {
	mu   sync.Mutex
	used map[string]int
}

// Take gets a slot, or reports that all are in use.
func (s *Semaphore) Take(name string, limit int) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[name] >= limit {
		return func() {}, false
	}
	if s.used == nil {
		s.used = map[string]int{}
	}
	s.used[name]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.used[name]--; s.used[name] == 0 {
			delete(s.used, name)
		}
	}, true
}
