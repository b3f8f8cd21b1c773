package enginepoll

import "sync"

// working counts by engine the work that is under way and may go through a frontend. It is counted before the frontend is read, and a
// switch-over checks this count after it was written to the frontend: one of the two sees the other.
type working struct {
	mu sync.Mutex
	n  map[string]int
}

// begin counts one more until the function that it returns is called.
func (w *working) begin(engine string) (end func()) {
	w.add(engine, 1)
	return func() { w.add(engine, -1) }
}

func (w *working) add(engine string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n == nil {
		w.n = map[string]int{}
	}
	if w.n[engine] += by; w.n[engine] == 0 {
		delete(w.n, engine)
	}
}

// Working reports whether work is under way that may go through the frontend of an engine.
func (c *Controller) Working(engine string) bool {
	c.working.mu.Lock()
	defer c.working.mu.Unlock()
	return c.working.n[engine] > 0
}
