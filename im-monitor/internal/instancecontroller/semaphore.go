package instancecontroller

import "sync"

// semaphore bounds how many calls are in progress per instance manager. A key that finds no free slot is enqueued when one is, in order;
// a key that is enqueued and no longer needs the slot passes it to the next one.
type semaphore struct {
	mu    sync.Mutex
	lines map[string]*line
	// enqueued are keys with a reserved slot of that instance manager that have not taken it yet.
	enqueued map[Key]string
}

// line is the queue of one instance manager.
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
		s.lines, s.enqueued = map[string]*line{}, map[Key]string{}
	}
	l := s.lines[instanceManager]
	if l == nil {
		l = &line{queued: map[Key]struct{}{}}
		s.lines[instanceManager] = l
	}
	if s.enqueued[key] == instanceManager {
		delete(s.enqueued, key)
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

// release returns a slot and reports the next key.
func (s *semaphore) release(instanceManager string) (next Key, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[instanceManager].used--
	return s.requeue(instanceManager)
}

// decline reports the next key where this one was enqueued and took no slot.
func (s *semaphore) decline(key Key) (next Key, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	instanceManager, enqueued := s.enqueued[key]
	if !enqueued {
		return Key{}, false
	}
	delete(s.enqueued, key)
	return s.requeue(instanceManager)
}

// requeue removes the first key of a queue; the lock is held.
func (s *semaphore) requeue(instanceManager string) (next Key, waits bool) {
	l := s.lines[instanceManager]
	if l == nil {
		return Key{}, false
	}
	if len(l.waiting) > 0 {
		next, waits = l.waiting[0], true
		l.waiting = l.waiting[1:]
		delete(l.queued, next)
		s.enqueued[next] = instanceManager
	}
	if l.used == 0 && len(l.waiting) == 0 {
		delete(s.lines, instanceManager)
	}
	return next, waits
}
