package removalcontroller

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// crash ends the work on the disk before or after one system call that writes, and with it the process.
type crash struct {
	mu    sync.Mutex
	at    int
	after bool
	calls []string
	dead  bool
	die   func()
}

func (c *crash) do(call string, do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return errCrash
	}
	c.calls = append(c.calls, call)
	here := len(c.calls) == c.at
	if here && !c.after {
		return c.end()
	}
	if err := do(); err != nil || !here {
		return err
	}
	return c.end()
}

func (c *crash) end() error {
	c.dead = true
	if c.die != nil {
		c.die()
	}
	return errCrash
}

// removes runs a removal, cut at one write to the API server or one system call, and again after it, and checks that it ends.
func removes(t *testing.T, e *env, at cut.Point, c *crash) {
	t.Helper()
	v := e.volume("vol")
	r, claimed := e.replica(v, "vol-r-1"), e.replica(v, "vol-r-2")
	e.delete(v, r)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.gone(r)
	e.interrupt = c.do
	p := e.start(at)
	c.mu.Lock()
	c.die = p.Stop
	c.mu.Unlock()
	if at != (cut.Point{}) || c.at > 0 {
		<-p.Ended()
		e.whole(claimed.Spec.DataDirectoryName)
		e.interrupt = nil
		e.start(cut.Point{})
	}
	e.await(r, v1beta2.ReasonRemoved)
	require.Equal(t, []string{claimed.Spec.DataDirectoryName}, e.names())
	e.whole(claimed.Spec.DataDirectoryName)
}

// Whichever write or system call the process dies at: what is claimed stays, and the removal ends.
func TestACrashAnywhereLeadsToTheSameEnd(t *testing.T) {
	t.Parallel()
	whole := &crash{}
	removes(t, newEnv(t), cut.Point{}, whole)
	require.Equal(t, []string{"rename", "fsync", "unlink", "unlink", "unlink", "fsync"}, whole.calls)
	for _, at := range cut.Points(2) {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			removes(t, newEnv(t), at, &crash{})
		})
	}
	for at := range whole.calls {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %d after %v", whole.calls[at], at+1, after), func(t *testing.T) {
				t.Parallel()
				removes(t, newEnv(t), cut.Point{}, &crash{at: at + 1, after: after})
			})
		}
	}
}
