package inventory

import (
	"slices"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// settling holds the evidence that v2 replicas are absent, by the rule of settled lists. A v2 server lists the replicas of a disk only once
// that disk was loaded in this run of the server, from a cache that a loop rebuilds; a pass during which a replica is created or deleted is
// dropped, and an old list is answered. So a list counts for a replica only if
//
//   - every disk that may hold it answered `ready` with its recorded UUID before and after the list, and has done so for the settle time,
//   - no creation or deletion of a replica was open at that server during the quiet time before the list.
//
// Two such lists, the absence gap apart and both begun after the question, prove the absence. It is a value machine: whoever holds it locks
// it.
type settling struct {
	gap, settle, quiet time.Duration
	// since is when the epoch's connection was made.
	since     time.Time
	questions map[question]*evidence
	// ready is since when each disk, by its key, is seen ready with one UUID in this epoch; down is what the others answered last.
	ready map[string]sighting
	down  map[string]refusal
	calls calls
}

// question is an absence that somebody asked for.
type question struct{ name, disk string }

// evidence is what speaks for one absence so far.
type evidence struct {
	// after is when the question was asked: lists that began before it do not count.
	after time.Time
	// began and ended enclose the first settled list that lacked the name; zero is none yet.
	began, ended time.Time
	proven       bool
	// disks are the keys of the disks that the evidence rests on.
	disks map[string]struct{}
}

// sighting is a disk that is ready.
type sighting struct {
	uuid  string
	since time.Time
}

// refusal is a disk that was asked for and is not ready.
type refusal struct {
	at    time.Time
	state string
}

// begin starts a new epoch: all evidence is void, the questions stay.
func (s *settling) begin(since time.Time) {
	s.since, s.ready, s.down = since, map[string]sighting{}, map[string]refusal{}
	for _, e := range s.questions {
		e.void()
	}
}

func (e *evidence) void() { e.began, e.ended, e.proven, e.disks = time.Time{}, time.Time{}, false, nil }

// answered takes in what a server reported about a disk, from asked on. Silence is no answer: it reports nothing about the disk.
func (s *settling) answered(name string, disk imclient.Disk, err error, asked, now time.Time) {
	if asked.Before(s.since) || silent(err) {
		return
	}
	if err == nil && disk.State == imclient.DiskReady && disk.UUID != "" {
		delete(s.down, name)
		if s.ready[name].uuid != disk.UUID {
			s.lost(name)
			s.ready[name] = sighting{uuid: disk.UUID, since: now}
		}
		return
	}
	s.lost(name)
	s.down[name] = refusal{at: now, state: stateOf(disk, err)}
}

// lost voids what rests on a disk.
func (s *settling) lost(name string) {
	delete(s.ready, name)
	for _, e := range s.questions {
		if _, rests := e.disks[name]; rests {
			e.void()
		}
	}
}

// stateOf is the server's word for why a disk cannot be used.
func stateOf(disk imclient.Disk, err error) string {
	switch {
	case err == nil && disk.State != "":
		return disk.State
	case err == nil:
		return "unknown"
	default:
		return err.Error()
	}
}

// trusted reports whether a list that began at a time may show everything that the disks hold.
func (s *settling) trusted(disks []NodeDisk, began time.Time) bool {
	for _, d := range disks {
		seen, ok := s.ready[d.Name]
		if !ok || d.UUID == "" || seen.uuid != d.UUID || began.Sub(seen.since) < s.settle {
			return false
		}
	}
	return began.Sub(s.since) >= s.settle && !began.Before(s.calls.quietFrom(began, s.quiet))
}

// due is when a list may begin that counts for the disks; false while a disk that is not ready, or an open call, has to change first.
func (s *settling) due(disks []NodeDisk, now time.Time) (time.Time, bool) {
	at := s.since.Add(s.settle)
	for _, d := range disks {
		seen, ok := s.ready[d.Name]
		if !ok || d.UUID == "" || seen.uuid != d.UUID {
			return time.Time{}, false
		}
		at = later(at, seen.since.Add(s.settle))
	}
	if s.calls.open > 0 {
		return time.Time{}, false
	}
	return later(at, s.calls.quietFrom(now, s.quiet)), true
}

// lacked takes in a settled list that lacks a name, and reports whether that proves its absence.
func (s *settling) lacked(e *evidence, disks []NodeDisk, list *Snapshot) bool {
	switch {
	case e.proven || list.Began.Before(e.after):
		return false
	case e.ended.IsZero():
		e.began, e.ended, e.disks = list.Began, list.Ended, map[string]struct{}{}
		for _, d := range disks {
			e.disks[d.Name] = struct{}{}
		}
		return false
	}
	e.proven = list.Began.Sub(e.ended) >= s.gap
	return e.proven
}

// ask remembers that somebody waits for an absence. What was proven for an earlier question is asked again.
// It reports whether that is new.
func (s *settling) ask(subject Subject, now time.Time) bool {
	key := question{subject.Name, subject.DiskUUID}
	e, known := s.questions[key]
	switch {
	case !known:
		if s.questions == nil {
			s.questions = map[question]*evidence{}
		}
		s.questions[key] = &evidence{after: later(now, subject.Since)}
	case e.after.Before(subject.Since) && (e.began.IsZero() || e.began.Before(subject.Since)):
		e.void()
		e.after = subject.Since
	default:
		return false
	}
	return true
}

// open are the names that are asked for and not proven absent.
func (s *settling) open() []string {
	var names []string
	for key, e := range s.questions {
		if !e.proven {
			names = append(names, key.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// prune forgets proofs that no one has needed for long.
func (s *settling) prune(before time.Time) {
	for key, e := range s.questions {
		if e.proven && e.ended.Before(before) {
			delete(s.questions, key)
		}
	}
}

// seen forgets the questions about names that a list has, or that a call is about: what was asked before is void.
func (s *settling) seen(has func(name string) bool) {
	for key := range s.questions {
		if has(key.name) {
			delete(s.questions, key)
		}
	}
}

// calls are the creations and deletions of replicas at one server. One whose answer never came may be executed long after.
type calls struct {
	open  int
	ended time.Time
	// possible is until when the server may still execute a call that no one waits for.
	possible time.Time
}

// quietFrom is the earliest beginning of a list that no call spoils.
func (c *calls) quietFrom(now time.Time, quiet time.Duration) time.Time {
	if c.open > 0 {
		return now.Add(quiet)
	}
	at := time.Time{}
	for _, last := range []time.Time{c.ended, c.possible} {
		if !last.IsZero() {
			at = later(at, last.Add(quiet))
		}
	}
	return at
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
