package enginepoll

import (
	"maps"
	"time"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// memory is what this process remembers of engines between two polls, by their names. Nothing in it is needed to be right: a new leader
// starts without.
type memory struct {
	execute.Memory[string, remembered]
}

// remembered is what is remembered of one run of an engine.
type remembered struct {
	run place
	// seen reports that a whole poll of the run was written: the engine had answered all questions.
	seen      bool
	unsettled time.Time
	// failures counts additions that failed, by the replica's name; tries are all calls, however they ended.
	failures map[string]int
	tries    map[engine.Key]try
	adding   *addition
	rebuild  progress
	// room is that of the run's backends; nil is not read yet.
	room   *volumesize.Room
	over   map[string]time.Time
	growth engine.Growth
	// waitsFor is what the engine's work was last reported to wait for.
	waitsFor string
	// purging: a purge of ours is under way; purged are the snapshots that the last accepted one was for, due those of the last verdict.
	// held is what was last reported of additions, noRoom of a purge that makes room for one.
	purging                   bool
	purged, due, held, noRoom string

	// unanswered are the questions of the last poll without an answer.
	unanswered engine.Unanswered

	snapshots snapshotMemory
	backups   backupMemory
	refusals  refusals
}

// try is how often a call was made, until when it is not made again, and what was answered if it failed.
type try struct {
	times  int
	until  time.Time
	failed string
}

// addition is a call that adds a replica and may last as long as the rebuild.
type addition struct {
	name   string
	cancel func()
	// accepted: a poll listed the replica while the call was open. ended is closed at the end of the call.
	accepted bool
	ended    chan struct{}
}

// progress is how far the rebuild of a replica is, and since when.
type progress struct {
	name    string
	percent int
	since   time.Time
}

// view is a copy of what is remembered of one engine.
type view struct {
	first     bool
	unsettled time.Time
	failures  map[string]int
	waits     map[engine.Key]time.Time
	failed    map[engine.Key]string
	adding    string
	over      map[string]time.Time
	growth    engine.Growth
	purging   bool
	purged    string
	snapshots enginesnapshot.Memory
	// open is until when a call for a backup that was not answered may be in progress; silent counts polls in a row in which the engine
	// did not report a backup.
	open   map[string]time.Time
	silent map[string]int
}

// view copies what is remembered of this run of the engine; what was of another run is forgotten, except for when the engine is expected to
// change, and calls for backups.
func (m *memory) view(e *v1beta2.Engine, now time.Time) (out view) {
	m.Change(e.Name, func(r *remembered) {
		if run := where(e); r.run != run {
			r.stop()
			*r = remembered{run: run, unsettled: r.unsettled, backups: r.backups}
		}
		r.prune(e, now)
		out = view{first: !r.seen, unsettled: r.unsettled, failures: maps.Clone(r.failures), waits: map[engine.Key]time.Time{},
			failed: map[engine.Key]string{}, over: r.over, growth: r.growth, purging: r.purging, purged: r.purged,
			snapshots: r.snapshots.view(), open: maps.Clone(r.backups.open), silent: maps.Clone(r.backups.silent)}
		for key, t := range r.tries {
			out.waits[key] = t.until
			if t.failed != "" {
				out.failed[key] = t.failed
			}
		}
		if r.adding != nil {
			out.adding = r.adding.name
		}
	})
	return out
}

// prune forgets additions that came to their end or are not wanted any more, and other calls that were made long ago and have ended.
func (r *remembered) prune(e *v1beta2.Engine, now time.Time) {
	over := func(name string) bool {
		_, mapped := e.Spec.ReplicaAddressMap[name]
		return !mapped || e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeRW
	}
	maps.DeleteFunc(r.failures, func(name string, _ int) bool { return over(name) })
	maps.DeleteFunc(r.tries, func(key engine.Key, t try) bool {
		open := r.adding != nil && key == engine.Key{Op: engine.OpAdd, Name: r.adding.name}
		return key.Op == engine.OpAdd && over(key.Name) || !open && now.After(t.until.Add(2*execute.AfterFailure.Most))
	})
	r.refusals.prune(now)
	maps.DeleteFunc(r.backups.open, func(_ string, until time.Time) bool { return now.After(until) })
	if r.adding != nil {
		if _, mapped := e.Spec.ReplicaAddressMap[r.adding.name]; !mapped {
			r.stop()
		}
	}
}

func (r *remembered) stop() {
	if r.adding != nil {
		r.adding.cancel()
		r.adding = nil
	}
}

// forget drops an engine that does not run.
func (m *memory) forget(name string) {
	m.ForgetIf(name, func(r remembered) bool { r.stop(); return true })
}

func (m *memory) room(name string) *volumesize.Room { return m.Of(name).room }

func (m *memory) keepRoom(name string, room *volumesize.Room) {
	m.Change(name, func(r *remembered) { r.room = room })
}

// polled notes what a poll found, and reports whether it found another reason than before to add no replica.
func (m *memory) polled(name string, v verdict, seen engine.Seen) (held bool) {
	m.Change(name, func(r *remembered) {
		r.over, r.growth, r.due, r.snapshots.Unlisted = v.engine.Over, v.engine.Growth, v.engine.Purged, v.unlisted
		if seen.Purges != nil && !v1beta2.IsPurging(seen.Purges) {
			r.purging = false
		}
		if !seen.Unanswered.Snapshots { // else it is not known whether the engine is at a limit
			held, r.held = v.engine.Held != "" && v.engine.Held != r.held, v.engine.Held
		}
		if r.adding != nil && v.engine.Status.ReplicaModeMap[r.adding.name] == v1beta2.ReplicaModeWO {
			r.adding.accepted = true
		}
	})
	return held
}

// wrote notes that a whole poll was written.
func (m *memory) wrote(name string) { m.Change(name, func(r *remembered) { r.seen = true }) }

// unansweredChanged notes the questions of a poll without an answer, and reports whether they differ from the poll before.
func (m *memory) unansweredChanged(name string, now engine.Unanswered) (changed bool) {
	m.Change(name, func(r *remembered) { changed, r.unanswered = r.unanswered != now, now })
	return changed
}

// heldBy notes what the engine's work waits for, and reports whether that is another reason than before.
func (m *memory) heldBy(name, why string) (changed bool) {
	m.Change(name, func(r *remembered) { changed, r.waitsFor = r.waitsFor != why, why })
	return changed
}

// roomHeld notes what a purge waits for that makes room for a replica, and reports whether that is another reason than before.
func (m *memory) roomHeld(name, why string) (changed bool) {
	m.Change(name, func(r *remembered) { changed, r.noRoom = r.noRoom != why, why })
	return changed
}

// accepted notes that the engine accepted an expansion, or a purge.
func (m *memory) accepted(name string, call engine.Call) {
	m.Change(name, func(r *remembered) {
		switch call.Op {
		case engine.OpExpand:
			r.growth = engine.Growth{To: call.Size}
		case engine.OpPurge:
			r.purging, r.noRoom = true, ""
			if r.due != "" {
				r.purged = r.due
			}
		}
	})
}

func (m *memory) unsettle(name string, until time.Time) {
	m.Change(name, func(r *remembered) { r.unsettled = until })
}

// tried notes that a call was made, and when it may be made again: what came of it is seen by then.
func (m *memory) tried(name string, key engine.Key, now time.Time) {
	m.Change(name, func(r *remembered) {
		t := r.tries[key]
		r.tries = with(r.tries, key, try{t.times + 1, now.Add(execute.AfterFailure.After(t.times + 1)), t.failed})
	})
}

// answered notes how the last try of a call ended; empty: well. The pause after one that failed begins with its end.
func (m *memory) answered(name string, key engine.Key, failed string, now time.Time) {
	m.Change(name, func(r *remembered) {
		if t, ok := r.tries[key]; ok {
			if t.failed = failed; failed != "" {
				t.until = now.Add(execute.AfterFailure.After(t.times))
			}
			r.tries[key] = t
		}
	})
}

// begin notes that a replica is being added; false where another one is.
func (m *memory) begin(name string, a *addition) (begun bool) {
	m.Change(name, func(r *remembered) {
		if begun = r.adding == nil; begun {
			r.adding = a
		}
	})
	return begun
}

// end notes that the call ended, and whether the replica could not be added; an aborted addition does not count.
func (m *memory) end(name string, a *addition, failed bool) {
	m.ChangeKnown(name, func(r *remembered) bool {
		if r.adding != a {
			return false
		}
		if r.adding = nil; failed {
			r.failures = with(r.failures, a.name, r.failures[a.name]+1)
		}
		return true
	})
}

// stuck notes how far the rebuild of a replica is, and reports that it made no progress for too long: it counts as failed
// for good then, and the call that it hangs in ends.
func (m *memory) stuck(name, replica string, percent int, now time.Time, patience time.Duration) (stuck bool) {
	m.Change(name, func(r *remembered) {
		if r.rebuild.name != replica || r.rebuild.percent != percent {
			r.rebuild = progress{replica, percent, now}
		}
		stuck = replica != "" && r.failures[replica] < engine.FailuresToErr && now.Sub(r.rebuild.since) > patience
		if stuck {
			r.stop()
			r.failures = with(r.failures, replica, engine.FailuresToErr)
		}
	})
	return stuck
}

// handOver ends the calls that no server is known to have begun, and returns the others.
func (m *memory) handOver() (out []*addition) {
	m.ChangeAll(func(_ string, r *remembered) bool {
		switch {
		case r.adding == nil:
		case r.adding.accepted:
			out = append(out, r.adding)
		default:
			r.stop()
		}
		return false
	})
	return out
}

// with puts a value into a map, which may be nil.
func with[K comparable, V any](m map[K]V, key K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = v
	return m
}
