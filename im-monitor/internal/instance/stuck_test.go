package instance

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// A v1 server forgets a process that survives its end: the deletion is requested again, first after the patience for it, then after the
// pauses between two calls of a kind.
func TestTheDeletionOfAProcessThatDoesNotEndIsRequestedAgain(t *testing.T) {
	since := func(ago time.Duration) change {
		return func(w *World) { w.Settings.StuckEnding, w.TransientSince = 90*time.Second, w.Now.Add(-ago) }
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

// A v2 server refuses an engine over a replica that it cannot ask for, and lists the engine as pending for ever.
func TestAV2EngineThatStaysPendingIsDeletedAndCreatedAgain(t *testing.T) {
	begun := status(Status{State: starting, Starting: true, InstanceManager: im})
	pending := []change{v2, wanted, begun, lists(v1beta2.InstanceStatePending)}
	of := func(more ...change) Verdict { return Decide(world(append(slices.Clone(pending), more...)...)) }
	seen := func(ago time.Duration) change { return func(w *World) { w.TransientSince = now.Add(-ago) } }
	refused := func(times int) change {
		return func(w *World) { w.Refusals, w.Refusal = times, "failed to get backend vol-r-1" }
	}

	require.Equal(t, outcome{starting, OpNone, "", ReasonChanging}, outcomeOf(of()), "it may be created now")
	v := of(seen(time.Minute))
	require.Equal(t, outcome{starting, OpNone, "", ReasonChanging}, outcomeOf(v))
	require.Equal(t, now.Add(4*time.Minute), v.At, "it is decided again when the patience ends")
	require.Equal(t, outcome{starting, OpDelete, im, ReasonCalling}, outcomeOf(of(seen(5*time.Minute))), "of an earlier leader")
	require.Equal(t, outcome{starting, OpDelete, im, ReasonCalling}, outcomeOf(of(seen(0), refused(1))))
	require.Equal(t, outcome{starting, OpDelete, im, ReasonCalling}, outcomeOf(of(seen(0), refused(3))), "the name must be free")

	gone := Decide(world(v2, wanted, begun, absent, refused(1)))
	require.Equal(t, OpCreate, gone.Call.Op)
	byUs := func(w *World) { w.Here.Ended = true }
	ended := Decide(world(v2, wanted, begun, absent, byUs, refused(3)))
	require.Equal(t, outcome{failed, OpNone, "", ReasonRefused}, outcomeOf(ended))
	require.Equal(t, Problem{ReasonRefused, "failed to get backend vol-r-1"}, ended.Status.Creation)
	again := Decide(world(v2, wanted, status(ended.Status), absent, byUs, refused(3)))
	require.Equal(t, failed, again.Status.State, "its deletion was no stop")

	require.Equal(t, OpNone, Decide(world(append(slices.Clone(pending), asFrontend, seen(time.Hour))...)).Call.Op, "a frontend recovers")
}
