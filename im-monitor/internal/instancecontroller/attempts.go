package instancecontroller

import (
	"sync"
	"time"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
)

// attempt is what this process knows of its calls for one object. All of it may be lost.
type attempt struct {
	// tried is the identity of the last call, times how often in a row it was made, notBefore when it may be made again.
	tried     string
	times     int
	notBefore time.Time
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
}

// attempts remembers by object.
type attempts struct {
	mu sync.Mutex
	m  map[Key]attempt
}

func (a *attempts) of(key Key) attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.m[key]
}

func (a *attempts) change(key Key, f func(*attempt)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil {
		a.m = map[Key]attempt{}
	}
	v := a.m[key]
	f(&v)
	a.m[key] = v
}

// forget drops what is remembered of an object whose instance is as wanted, unless a call is under way whose effect a list does not show
// yet.
func (a *attempts) forget(key Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.m[key]; !t.creating && !t.turning {
		delete(a.m, key)
	}
}

// accepted notes a call that the server took, or may have taken.
func (t *attempt) accepted(call instance.Call, now time.Time) {
	t.repeated(call)
	t.refusals, t.refusal = 0, ""
	t.notBefore = now.Add(backoff(acceptedDelay, acceptedDelayMax, t.times))
}

// failed notes a call that surely had no effect, or of which nothing is known.
func (t *attempt) failed(call instance.Call, now time.Time) {
	t.repeated(call)
	t.notBefore = now.Add(backoff(failureDelay, failureDelayMax, t.times))
}

// decline notes that the server declined a phase of a move: it is not begun again at once.
func (t *attempt) decline(now time.Time) {
	t.declined++
	t.moveAfter = now.Add(backoff(failureDelay, failureDelayMax, t.declined))
}

func (t *attempt) repeated(call instance.Call) {
	if id := call.Identity(); t.tried != id {
		t.tried, t.times = id, 0
	}
	t.times++
}

// backoff doubles with every try.
func backoff(first, limit time.Duration, try int) time.Duration {
	for d := first; ; d *= 2 {
		if try--; try <= 0 || d >= limit {
			return min(d, limit)
		}
	}
}
