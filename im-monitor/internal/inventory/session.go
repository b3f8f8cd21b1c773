package inventory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// session is one connection to one target: the span of one epoch. Only the member's loop uses it.
type session struct {
	member *member
	config Config
	target Target
	turn   int
	ctx    context.Context

	client  imclient.Client
	epoch   Epoch
	since   time.Time
	version imclient.Version
	// notices holds at most one notice of the watch stream, lost why the stream ended.
	notices chan struct{}
	lost    chan error

	// noticed is set when a notice waits for its list; began is when the last list began, safety when the next is due at the latest.
	noticed       bool
	began, safety time.Time
	// published reports whether subscribers were shown a list.
	published bool
}

// run connects, watches, lists, and lists again whenever there is a reason, until something fails. The watch is opened before anything is
// read, and one round trip lies between it and the first list, so that the server mostly knows its watcher by then. Nothing proves it: what
// changed between the first list and a watch that arrived later is seen by the second list (Config.SecondList).
func (s *session) run() error {
	var err error
	if s.client, err = s.config.Connect(s.target); err != nil {
		return err
	}
	s.client = track(s.client, s.member, s.target.DataEngine)
	watch, err := s.client.Watch(s.ctx)
	if err == nil {
		s.version, err = s.client.Version(s.ctx)
	}
	if err != nil {
		return firstOf(err, s.client.Close())
	}
	s.since = s.config.Clock.Now()
	s.epoch = s.target.server()
	s.epoch.Connection = s.member.inventory.connections.Add(1)
	ended := make(chan struct{})
	go s.follow(watch, ended)
	err = s.read()
	closing := s.client.Close()
	<-ended
	return firstOf(err, closing)
}

// firstOf prefers what went wrong to what closing reported about it.
func firstOf(err, closing error) error {
	if err != nil {
		return err
	}
	return closing
}

// lasted reports whether the session lived long enough to call the next failure the first.
func (s *session) lasted() bool {
	return !s.since.IsZero() && s.config.Clock.Since(s.since) >= s.config.BackoffMax
}

// follow passes the notices of the stream on until it ends, which closing the client brings about.
func (s *session) follow(watch imclient.Watch, ended chan struct{}) {
	defer close(ended)
	for {
		if err := watch.Next(); err != nil {
			s.lost <- err
			return
		}
		nudge(s.notices)
	}
}

// read lists, and lists again whenever there is a reason to.
func (s *session) read() error {
	cause := imclient.CauseReconnect
	for {
		if err := s.list(cause); err != nil {
			return err
		}
		var err error
		if cause, err = s.wait(); err != nil {
			return err
		}
	}
}

// list reads one whole list and publishes it. Whoever waits by now, and every notice so far, is served by it.
func (s *session) list(cause imclient.Cause) error {
	select {
	case <-s.notices:
	default:
	}
	s.noticed = false
	waiters, previous := s.member.take()
	s.began = s.config.Clock.Now()
	s.safety = s.began.Add(s.config.safetyDelay())
	if cause == imclient.CauseReconnect {
		s.safety = s.began.Add(s.config.SecondList)
	}
	instances, err := s.client.List(s.ctx, cause, previous)
	if err != nil {
		err = fmt.Errorf("listing the instances of %s: %w", s.target.InstanceManager, err)
		reply(waiters, result{err: err})
		return err
	}
	s.publish(instances, waiters)
	return nil
}

// wait returns the cause of the next list when it is due.
func (s *session) wait() (imclient.Cause, error) {
	for {
		cause, at := s.next()
		delay := at.Sub(s.config.Clock.Now())
		if delay <= 0 {
			return cause, nil
		}
		timer := s.config.Clock.NewTimer(delay)
		select {
		case <-timer.C():
		case <-s.notices:
			s.noticed = true
		case <-s.member.signal:
		case err := <-s.lost:
			timer.Stop()
			return "", fmt.Errorf("watching %s: %w", s.target.InstanceManager, err)
		case <-s.ctx.Done():
			timer.Stop()
			return "", s.ctx.Err()
		}
		timer.Stop()
	}
}

// next is the most urgent reason for a list, and when it is due.
func (s *session) next() (imclient.Cause, time.Time) {
	waiting, followUp := s.member.reasons(s.began)
	cause, at := imclient.CauseSafety, s.safety
	if earliest := s.began.Add(s.config.FollowUpInterval); !followUp.IsZero() {
		if followUp.Before(earliest) {
			followUp = earliest
		}
		if followUp.Before(at) {
			cause, at = imclient.CauseFollowUp, followUp
		}
	}
	if noticed := s.began.Add(s.config.NoticeInterval); s.noticed && noticed.Before(at) {
		cause, at = imclient.CauseEvent, noticed
	}
	if waiting {
		return imclient.CauseFresh, s.began
	}
	return cause, at
}

// publish makes a whole list the latest one, unless the target changed meanwhile, and notifies subscribers of what it changed.
func (s *session) publish(instances map[string]Instance, waiters []chan result) {
	list := &Snapshot{
		Target:     s.target,
		Epoch:      s.epoch,
		EpochSince: s.since,
		Began:      s.began,
		Ended:      s.config.Clock.Now(),
		Serial:     s.member.inventory.serial.Add(1),
		Version:    s.version,
	}
	change, read, ok := s.member.accept(s, list, instances)
	if !ok {
		reply(waiters, result{err: errReplaced})
		return
	}
	if !s.published {
		s.member.inventory.hear(s.target.InstanceManager)
	}
	s.published = true
	reply(waiters, result{snapshot: list})
	if change.Whole || len(change.Names) > 0 {
		s.member.inventory.emit(change)
	}
	s.member.inventory.emitShared(list.InstanceManager, read)
}

// take claims everybody who waits by now, and the list to compare the next one with: of this epoch, or nil.
func (m *member) take() ([]chan result, imclient.Known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	waiters := m.waiters
	m.waiters = nil
	if m.latest == nil {
		return waiters, nil
	}
	return waiters, m.latest.Instances.Find
}

// reasons reports whether somebody waits, and when absence needs a list.
func (m *member) reasons(last time.Time) (bool, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiters) > 0, m.absence.followUp(last)
}

// accept completes a list and makes it the latest; false when it came for an earlier target. It returns the change that subscribers are
// notified of, and the names of which the list shows something new.
func (m *member) accept(s *session, list *Snapshot, instances map[string]Instance) (Change, []string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turns != s.turn {
		return Change{}, nil, false
	}
	first := m.latest == nil
	before := m.latest
	if first {
		before = m.former
		m.absence.gap, m.absence.settle, m.absence.v2 = s.config.AbsenceGap, s.config.Settle, s.target.DataEngine == v1beta2.DataEngineV2
		m.absence.begin(s.since)
		m.settling.begin(s.since)
		nudge(m.probeRequeue)
	}
	var earlier Instances
	if before != nil {
		earlier = before.Instances
	}
	kept, d := earlier.merge(instances)
	list.Instances, list.Settled = kept, m.absence.settled(list.Began)
	proofs := m.absence.record(list, d.removed)
	change := Change{InstanceManager: s.target.InstanceManager, Node: s.target.Node}
	read := slices.Concat(d.added, d.removed, d.changed)
	if first {
		read = kept.names()
		m.inventory.index.add(list.InstanceManager, read)
	} else {
		m.inventory.index.add(list.InstanceManager, d.added)
		m.inventory.index.remove(list.InstanceManager, d.removed)
	}
	if change.Whole = first || list.Settled != before.Settled; !change.Whole {
		change.Names = slices.Concat(read, proofs)
		slices.Sort(change.Names)
	}
	m.settling.seen(kept.Has)
	m.settling.prune(list.Began.Add(-2 * s.config.SafetyPeriod))
	m.latest, m.former, m.client, m.err = list, nil, s.client, nil
	return change, read, true
}
