package instancecontroller

import "sync"

// slots bound how many calls are under way per instance manager. Who finds none free is woken when one is.
type slots struct {
	mu  sync.Mutex
	ims map[string]*line
}

type line struct {
	used    int
	waiting []Key
	queued  map[Key]struct{}
}

// take gets a slot, or queues the key for the next one that is free. The returned function gives it back and names who is next.
func (s *slots) take(instanceManager string, key Key, limit int) (release func() (next Key, waits bool), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ims == nil {
		s.ims = map[string]*line{}
	}
	l := s.ims[instanceManager]
	if l == nil {
		l = &line{queued: map[Key]struct{}{}}
		s.ims[instanceManager] = l
	}
	if l.used >= limit {
		if _, known := l.queued[key]; !known {
			l.queued[key] = struct{}{}
			l.waiting = append(l.waiting, key)
		}
		return nil, false
	}
	l.used++
	return func() (Key, bool) { return s.release(instanceManager, l) }, true
}

func (s *slots) release(instanceManager string, l *line) (next Key, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.used--
	if len(l.waiting) > 0 {
		next, waits = l.waiting[0], true
		l.waiting = l.waiting[1:]
		delete(l.queued, next)
	}
	if l.used == 0 && len(l.waiting) == 0 {
		delete(s.ims, instanceManager)
	}
	return next, waits
}
