package inventory

import (
	"context"
	"time"
)

// loop connects and reads until the member is removed or the context ends; then everything is unknown.
func (m *member) loop(ctx context.Context) {
	failures := 0
	for {
		s, ok := m.open(ctx)
		if !ok {
			return
		}
		err := s.run()
		if m.close(s, err); s.lasted() {
			failures = 0
		}
		if m.current(s) && ctx.Err() == nil {
			m.pause(ctx, m.inventory.config.backoff(failures))
			failures++
		} else {
			failures = 0
		}
	}
}

// open begins a session with the present target; false when there is nothing to do any more.
func (m *member) open(ctx context.Context) (*session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.removed || ctx.Err() != nil {
		reply(m.waiters, result{err: errReplaced})
		m.waiters = nil
		return nil, false
	}
	select {
	case <-m.turn: // this session is the answer to it
	default:
	}
	s := &session{member: m, config: m.inventory.config, target: m.target, turn: m.turns, notices: make(chan struct{}, 1),
		lost: make(chan error, 1)}
	s.ctx, m.stop = context.WithCancel(ctx)
	return s, true
}

// close ends a session: the inventory is unknown until the next one has read it, and subscribers hear of it if they knew it, or waited for
// the first answer.
func (m *member) close(s *session, err error) {
	m.mu.Lock()
	m.stop()
	m.stop = nil
	answer, failed := func() {}, m.turns == s.turn
	if failed {
		answer = m.forget(err)
	}
	var lost []string
	if s.published {
		lost = m.former.Instances.names()
	}
	m.mu.Unlock()
	answer()
	first := failed && m.inventory.hear(s.target.InstanceManager)
	if first || s.published {
		m.inventory.emit(Change{InstanceManager: s.target.InstanceManager, Node: s.target.Node, Whole: true})
	}
	m.inventory.emitShared(s.target.InstanceManager, lost)
}

// current reports whether the target is still that of a session.
func (m *member) current(s *session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.turns == s.turn
}

// pause waits before the next attempt, or until the target changes.
func (m *member) pause(ctx context.Context, delay time.Duration) {
	timer := m.inventory.config.Clock.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-m.turn:
	case <-ctx.Done():
	}
}
