package enginepoll

import (
	"sync"
	"time"
)

// working counts by engine the work that is under way and may go through a frontend. It is counted before the frontend is read, and a
// switch-over checks this count after it was written to the frontend: one of the two sees the other. A call that ended counts until a poll
// that began after its end was written: only then does the engine's status have what the call brought, such as a replica that is being
// rebuilt, or the end of a purge. A server may still execute a call that it did not answer: that one counts until it cannot any more.
type working struct {
	mu       sync.Mutex
	underWay map[string]int
	unshown  map[string]int
	open     map[string]time.Time
}

// begin counts one more until the function that it returns is called.
func (w *working) begin(engine string) (end func()) {
	w.count(func() { w.underWay = add(w.underWay, engine, 1) })
	return func() { w.count(func() { add(w.underWay, engine, -1) }) }
}

// beginCall is begin for a call: a poll has to show what it brought.
func (w *working) beginCall(engine string) (end func()) {
	ended := w.begin(engine)
	return func() {
		w.count(func() { w.unshown = add(w.unshown, engine, 1) }) // first: at every moment one of the two counts
		ended()
	}
}

// ended is how many calls have ended that no poll has shown: one that begins now shows them.
func (w *working) ended(engine string) (calls int) {
	w.count(func() { calls = w.unshown[engine] })
	return calls
}

// shown notes that a poll was written which began after the end of these calls.
func (w *working) shown(engine string, calls int) {
	w.count(func() { add(w.unshown, engine, -min(calls, w.unshown[engine])) })
}

// leaveOpen notes that a call was not answered, and until when a server may execute it.
func (w *working) leaveOpen(engine string, until time.Time) {
	w.count(func() {
		if until.After(w.open[engine]) {
			w.open = with(w.open, engine, until)
		}
	})
}

// forget is for an engine that does not run: no poll shows anything of it, and no server executes a call to it.
func (w *working) forget(engine string) {
	w.count(func() {
		delete(w.unshown, engine)
		delete(w.open, engine)
	})
}

// on reports whether work on an engine counts at a time.
func (w *working) on(engine string, now time.Time) (on bool) {
	w.count(func() {
		if until, open := w.open[engine]; open && !now.Before(until) {
			delete(w.open, engine)
		}
		_, open := w.open[engine]
		on = open || w.underWay[engine] > 0 || w.unshown[engine] > 0
	})
	return on
}

func (w *working) count(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func add(to map[string]int, engine string, by int) map[string]int {
	if to == nil {
		to = map[string]int{}
	}
	if to[engine] += by; to[engine] == 0 {
		delete(to, engine)
	}
	return to
}

// Working reports whether work is under way that may go through the frontend of an engine, or no poll has shown yet what it brought.
func (c *Controller) Working(engine string) bool { return c.working.on(engine, c.rt.Clock.Now()) }

// Polled reports whether this process wrote a whole poll of the engine since that runs as it does. Until then its status may lack the
// effects of an earlier leader's calls.
func (c *Controller) Polled(engine string) bool { return c.memory.Of(engine).seen }

func (c *Controller) forget(engine string) {
	c.memory.forget(engine)
	c.working.forget(engine)
}
