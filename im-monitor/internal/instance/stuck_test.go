package instance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A v1 server forgets a process that survives its end: the deletion is requested again, first after the patience for it, then after the
// pauses between two calls of a kind.
func TestTheDeletionOfAProcessThatDoesNotEndIsRequestedAgain(t *testing.T) {
	since := func(ago time.Duration) change {
		return func(w *World) { w.Settings.StuckEnding, w.EndingSince = 90*time.Second, w.Now.Add(-ago) }
	}
	stuck := []change{status(was(running)), lists(stopping)}
	of := func(more ...change) Verdict { return Decide(world(append(stuck, more...)...)) }

	v := of(since(30 * time.Second))
	require.Equal(t, outcome{stopping, OpNone, "", ReasonChanging}, outcomeOf(v))
	require.Equal(t, v.At, world().Now.Add(time.Minute), "it is decided again when the patience ends")
	v = of(since(90 * time.Second))
	require.Equal(t, outcome{stopping, OpDelete, im, ReasonCalling}, outcomeOf(v))
	require.Equal(t, world(stuck...).Here.Entry.UUID, v.Call.UUID, "it is the same process")
	tried := func(w *World) { w.Tried, w.NotBefore = v.Call.Identity(), w.Now.Add(10*time.Second) }
	require.Equal(t, outcome{stopping, OpNone, "", ReasonBackoff}, outcomeOf(of(since(91*time.Second), tried)))
	require.Equal(t, OpNone, of().Call.Op, "nothing is known of its age")

	again := Decide(world(wanted, status(stopped("")), lists(stopping), since(2*time.Minute)))
	require.Equal(t, OpDelete, again.Call.Op, "an earlier run in the way of a start")
	v2Replica := Decide(world(v2, asReplica, status(was(running)), lists(stopping), since(time.Hour)))
	require.Equal(t, OpNone, v2Replica.Call.Op, "a v2 server ends what it was asked for")
}
