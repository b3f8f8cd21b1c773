package execute

import (
	"slices"
	"sync"
)

// Queue is a Semaphore with a queue, for users with many keys for each instance manager. A key that finds no free slot is enqueued when one
// is, in order; a key that is enqueued and no longer needs the slot passes it to the next one. The zero value is ready for use.
type Queue[K comparable] struct {
	mu    sync.Mutex
	lines map[string]*line[K]
	// enqueued are the instance managers that have enqueued a key which has not taken their slot yet: a key may wait at several, as its calls
	// move from one to another.
	enqueued map[K][]string
}

// line is the queue of one instance manager.
type line[K comparable] struct {
	used    int
	waiting []K
	queued  map[K]struct{}
}

// Take gets a slot, or queues the key for the next one that is free.
func (s *Queue[K]) Take(instanceManager string, key K, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines, s.enqueued = map[string]*line[K]{}, map[K][]string{}
	}
	l := s.lines[instanceManager]
	if l == nil {
		l = &line[K]{queued: map[K]struct{}{}}
		s.lines[instanceManager] = l
	}
	s.taken(instanceManager, key)
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

// Release returns a slot and reports the next key.
func (s *Queue[K]) Release(instanceManager string) (next K, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[instanceManager].used--
	return s.requeue(instanceManager)
}

// Decline reports the next key of each instance manager that enqueued this one and had no slot taken by it.
func (s *Queue[K]) Decline(key K) (next []K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	instanceManagers := s.enqueued[key]
	delete(s.enqueued, key)
	for _, im := range instanceManagers {
		if k, waits := s.requeue(im); waits {
			next = append(next, k)
		}
	}
	return next
}

// taken notes that a key was served by an instance manager that may have enqueued it; the lock is held.
func (s *Queue[K]) taken(instanceManager string, key K) {
	left := slices.DeleteFunc(s.enqueued[key], func(im string) bool { return im == instanceManager })
	if len(left) == 0 {
		delete(s.enqueued, key)
		return
	}
	s.enqueued[key] = left
}

// requeue removes the first key of a queue; the lock is held.
func (s *Queue[K]) requeue(instanceManager string) (next K, waits bool) {
	l := s.lines[instanceManager]
	if l == nil {
		return next, false
	}
	if len(l.waiting) > 0 {
		next, waits = l.waiting[0], true
		l.waiting = l.waiting[1:]
		delete(l.queued, next)
		s.enqueued[next] = append(s.enqueued[next], instanceManager)
	}
	if l.used == 0 && len(l.waiting) == 0 {
		delete(s.lines, instanceManager)
	}
	return next, waits
}
