package shell

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Slot holds the run that is under way in a test. Goroutines may use it at the same time.
type Slot struct {
	mutex   sync.Mutex
	process *Process
}

// Hold makes a run the current one.
func (s *Slot) Hold(p *Process) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.process = p
}

// Current returns the run that was held last, or nil if it was ended.
func (s *Slot) Current() *Process {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.process
}

// End ends the current run, if there is one. The test fails if the run ended with an error.
func (s *Slot) End(t testing.TB) {
	t.Helper()
	s.mutex.Lock()
	p := s.process
	s.process = nil
	s.mutex.Unlock()
	if p != nil {
		p.Stop()
		require.NoError(t, p.Wait())
	}
}
