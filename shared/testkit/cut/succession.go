package cut

import (
	"sync"
	"time"
)

// lastWrite is how long a process has for the write that it is to be cut at, once its scenario has come to the end.
const lastWrite = 5 * time.Second

// Succession lets another process follow the one that is cut.
type Succession struct {
	// Cut is to be called when the cut happens, as a Client's onCut.
	Cut            func()
	dead, followed chan struct{}
}

// NewSuccession returns a Succession without a following process.
func NewSuccession() *Succession {
	s := &Succession{dead: make(chan struct{}), followed: make(chan struct{})}
	s.Cut = sync.OnceFunc(func() { close(s.dead) })
	return s
}

// Follow calls next once, in its own goroutine, after the cut.
func (s *Succession) Follow(next func()) {
	go func() {
		defer close(s.followed)
		<-s.dead
		next()
	}()
}

// Wait is to be called at the end of a scenario that was to be cut, and returns once next has. A process that needed
// fewer writes this time than the point needs is ended by stop.
func (s *Succession) Wait(stop func()) {
	select {
	case <-s.followed:
	case <-time.After(lastWrite):
		stop()
		s.Cut()
		<-s.followed
	}
}
