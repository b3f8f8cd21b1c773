package instancecontroller

import "sync"

// semaphore bound how many calls are under way per instance manager. Who finds none free is woken when one is, in the order of asking; who
// is woken and needs none any more lets the next one go.
type semaphore struct {
	mu    sync.Mutex
	lines map[string]*line
	// woken were told that a slot of that instance manager is free, and have not taken it yet.
	woken map[Key]string
}

// line is one instance manager's.
type line struct {
	used    int
	waiting []Key
	queued  map[Key]struct{}
}

// take gets a slot, or queues the key for the next one that is free.
func (s *semaphore) take(instanceManager string, key Key, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines, s.woken = map[string]*line{}, map[Key]string{}
	}
	l := s.lines[instanceManager]
	if l == nil {
		l = &line{queued: map[Key]struct{}{}}
		s.lines[instanceManager] = l
	}
	if s.woken[key] == instanceManager {
		delete(s.woken, key)
	}
	if l.used < limit {
		l.used++
		return true
	}
	if _, known := l.queued[key]; !known {
		l.queued[key] = struct{}{}
		l.waiting = append(l.waiting, key)
	}
	return false
}

// release gives a slot back and says who is next.
func (s *semaphore) release(instanceManager string) (next Key, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[instanceManager].used--
	return s.requeue(instanceManager)
}

// decline says who is next where the key was woken and took nothing.
func (s *semaphore) decline(key Key) (next Key, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	instanceManager, woken := s.woken[key]
	if !woken {
		return Key{}, false
	}
	delete(s.woken, key)
	return s.requeue(instanceManager)
}

// requeue takes the first one out of a line; the lock is held.
func (s *semaphore) requeue(instanceManager string) (next Key, waits bool) {
	l := s.lines[instanceManager]
	if l == nil {
		return Key{}, false
	}
	if len(l.waiting) > 0 {
		next, waits = l.waiting[0], true
		l.waiting = l.waiting[1:]
		delete(l.queued, next)
		s.woken[next] = instanceManager
	}
	if l.used == 0 && len(l.waiting) == 0 {
		delete(s.lines, instanceManager)
	}
	return next, waits
}
