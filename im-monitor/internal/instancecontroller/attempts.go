package instancecontroller

import (
	"errors"
	"time"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

// attempts are remembered by object.
type attempts = execute.Memory[Key, attempt]

// attempt is what this process knows of its calls for one object. All of it may be lost.
type attempt struct {
	// Tries are those of the last call, tried is its identity, sent is how many of them the server was asked in.
	execute.Tries
	tried string
	sent  int
	// refusals counts creations in a row that the server declined, refusal is its last word.
	refusals int
	refusal  string
	// declined counts the phases of moves in a row that the server declined, moveAfter is when the next move may begin.
	declined  int
	moveAfter time.Time
	// deletion is the last one that was sent, to prove its effect with; nil when none was.
	deletion *inventory.Call
	// creating is true while a creation is under way; created is when the last one ended. A list of before proves nothing after it.
	creating bool
	created  time.Time
	// turning and turned are the same for calls that move a frontend, hold its I/O or let it continue.
	turning bool
	turned  time.Time
	// conflicted: the write ahead of the last try found that the cache is behind.
	conflicted bool
	// missed is the UUID of a started instance that the newest list lacked, missedAt when this process first found that.
	missed   string
	missedAt time.Time
	// transient is the state and the UUID of a listed instance that is stopping or pending, transientSince the time at which this process
	// first saw it so.
	transient      string
	transientSince time.Time
}

// isTransient reports whether a listed instance is in a state that it leaves by itself.
func isTransient(entry *instance.Entry) bool {
	return entry.State == v1beta2.InstanceStateStopping || entry.State == v1beta2.InstanceStatePending
}

// sawTransient notes whether the newest list shows the instance as stopping or pending, and returns the time at which that was first seen.
func (t *attempt) sawTransient(entry *instance.Entry, now time.Time) time.Time {
	if entry == nil || !isTransient(entry) {
		t.transient, t.transientSince = "", time.Time{}
		return time.Time{}
	}
	if is := entry.State + "/" + entry.UUID; t.transientSince.IsZero() || t.transient != is {
		t.transient, t.transientSince = is, now
	}
	return t.transientSince
}

// miss notes that the newest list lacks a started instance.
func (t *attempt) miss(uuid string, now time.Time) {
	if t.missed != uuid || t.missedAt.IsZero() {
		t.missed, t.missedAt = uuid, now
	}
}

// underWay reports whether a call is under way whose effect a list does not show yet.
func (t attempt) underWay() bool { return t.creating || t.turning }

// accepted notes a call that the server took, or may have taken.
func (t *attempt) accepted(call instance.Call, now time.Time) {
	t.found(call, now)
	if call.Op == instance.OpCreate {
		t.refusals, t.refusal = 0, ""
	}
}

// found notes a creation whose name the server has already: it may be the instance that it refused before.
func (t *attempt) found(call instance.Call, now time.Time) {
	t.began(call)
	t.sent++
	t.Accept(afterCall, now)
}

// failed notes a call that surely had no effect, or of which nothing is known.
func (t *attempt) failed(call instance.Call, now time.Time) {
	t.began(call)
	t.Fail(now)
}

// notAccepted notes a call that was sent, and that the server did not accept. A switch-over is declined where the server declined it, or
// did not answer twice: an answer may be lost once, and a server that cannot reach an engine answers in the same way.
func (t *attempt) notAccepted(call instance.Call, out execute.Result, now time.Time) {
	t.failed(call, now)
	var unwritten *unwrittenError
	if errors.As(out.Err, &unwritten) {
		return // the server did accept it
	}
	t.sent++
	if call.Op == instance.OpCreate && out.Outcome.Declined() {
		t.refusals++
		t.refusal = out.Err.Error()
	}
	if call.Op == instance.OpSwitchOver && (out.Outcome != execute.Unanswered || t.sent > 1) {
		t.decline(now)
	}
}

// decline notes that the server declined a phase of a move: it is not begun again at once.
func (t *attempt) decline(now time.Time) {
	t.declined++
	t.moveAfter = now.Add(execute.AfterFailure.After(t.declined))
}

// began forgets the tries of another call.
func (t *attempt) began(call instance.Call) {
	if id := call.Identity(); t.tried != id {
		t.tried, t.sent, t.Tries = id, 0, execute.Tries{}
	}
}
