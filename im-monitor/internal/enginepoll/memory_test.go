package enginepoll

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// opened is a poll of an engine over r-1 to which this process adds r-2, with the addition's context.
func opened() (*poll, *server, *addition) {
	p, s, _ := newCall(0, 0)
	p.engine.Spec.ReplicaAddressMap = map[string]string{"r-1": "10.0.0.1:1", "r-2": "10.0.0.2:1"}
	p.engine.Spec.VolumeSize, p.engine.Status.CurrentSize = 1<<30, 1<<30
	p.memory.view(p.engine, s.clock.Now())
	a := &addition{name: "r-2", cancel: func() { a := "cancelled"; s.created = append(s.created, a) }}
	p.memory.tried(p.engine.Name, engine.Key{Op: engine.OpAdd, Name: "r-2"}, s.clock.Now())
	p.memory.begin(p.engine.Name, a)
	return p, s, a
}

// The call of v1 lasts as long as the rebuild, longer than a call is remembered that nobody repeats.
func TestTheReasonOfARebuildThatFailsLateIsReported(t *testing.T) {
	p, s, a := opened()
	add := engine.Call{Op: engine.OpAdd, Name: "r-2"}
	var pauses []time.Duration
	for range 4 {
		for range 5 * 60 {
			s.clock.Step(time.Second)
			require.Equal(t, "r-2", p.memory.view(p.engine, s.clock.Now()).adding)
		}
		p.ended(p.engine, add, errors.New("disk on fire"))
		p.memory.end(p.engine.Name, a, true)
		f := polled()
		f.engine.Spec.ReplicaAddressMap["r-2"] = "10.0.0.2:1"
		f.now = s.clock.Now()
		f.known = p.memory.view(p.engine, f.now)
		c := conditions.Get(decide(rules, f).engine.Status.Conditions, v1beta2.EngineOperations)
		require.NotNil(t, c)
		require.Contains(t, c.Message, "could not add replica r-2: disk on fire.")
		pauses = append(pauses, f.known.waits[add.Key()].Sub(f.now))
		s.clock.Step(pauses[len(pauses)-1])
		p.memory.tried(p.engine.Name, add.Key(), s.clock.Now())
		p.memory.begin(p.engine.Name, a)
	}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, pauses, "they grow")
}

func TestACallThatNobodyRepeatsIsForgotten(t *testing.T) {
	p, s, a := opened()
	p.memory.end(p.engine.Name, a, true)
	s.clock.Step(2*execute.AfterFailure.Most + 2*time.Second)
	require.Empty(t, p.memory.view(p.engine, s.clock.Now()).waits)
}
