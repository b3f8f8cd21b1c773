package instance

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

const request, earlier = "2026-01-01T00:00:02Z", "2026-01-01T00:00:01Z"

// asked is a request to hold, answered the last one that was answered; both may be empty.
func asked(request, answered string) change {
	return func(w *World) { w.Object.Suspend, w.Status.Suspended = request, answered }
}

func held(w *World) {
	w.Here.Entry.State, w.Status.State = v1beta2.InstanceStateSuspended, v1beta2.InstanceStateSuspended
}

func TestAFrontendHoldsItsIOAsLongAsThatIsAskedFor(t *testing.T) {
	atOld, atNew := recordedAt(oldTarget), recordedAt(newTarget)
	both, none := serving(oldTarget, newTarget), serving()
	for _, c := range []struct {
		name     string
		world    World
		op       Op
		phase    string
		reason   string
		answered string
	}{
		{"not asked, it runs", world(atNew, both), OpNone, "", ReasonDone, ""},
		{"asked, it runs: it is suspended before it moves", world(atOld, both, asked(request, "")), OpSuspend, "", ReasonCalling, ""},
		{"asked again, it runs: suspended, and the earlier answer is none", world(atOld, none, asked(request, earlier)), OpSuspend, "",
			ReasonCalling, earlier},
		{"asked and held, it moves, and answers when it is there", world(atOld, both, held, asked(request, "")), OpSwitchOver,
			phasePreparing, ReasonCalling, ""},
		{"asked and held, it is there", world(atNew, both, held, asked(request, "")), OpNone, "", ReasonDone, request},
		{"asked and held, while a call is under way: not answered",
			world(atNew, both, held, asked(request, earlier), func(w *World) { w.Unsettled = true }), OpNone, "", ReasonDone, earlier},
		{"asked and held, it cannot move", world(atOld, none, held, asked(request, "")), OpNone, "", ReasonTargetNotServing, request},
		{"asked again and held: that is answered, too", world(atNew, both, held, asked(request, earlier)), OpNone, "", ReasonDone, request},
		{"asked, held, runs all the same: it neither moves nor is suspended for this request", world(atOld, both, asked(request, request)),
			OpNone, "", ReasonSuspensionLost, request},
		{"not asked any more: it moves first", world(atOld, both, held, asked("", request)), OpSwitchOver, phasePreparing, ReasonCalling,
			""},
		{"not asked any more, half-way", world(atOld, both, at(phaseSwitching, true), held, asked("", request)), OpSwitchOver,
			phasePromoting, ReasonCalling, ""},
		{"not asked any more, it cannot move: it holds on", world(atOld, none, held, asked("", request)), OpNone, "",
			ReasonTargetNotServing, ""},
		{"not asked any more, at its target: it continues", world(atNew, both, held, asked("", request)), OpResume, "", ReasonCalling, ""},
		{"it continues, and nothing was answered", world(atNew, both, asked("", request)), OpNone, "", ReasonDone, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.reason, v.Reason, v.Message)
			require.Equal(t, c.op, v.Call.Op)
			require.Equal(t, c.phase, v.Call.Phase)
			require.Equal(t, c.answered, v.Status.Suspended)
		})
	}
}

func TestWhatIsNoFrontendIsNeverSuspended(t *testing.T) {
	v := Decide(world(wanted, status(was(running)), lists(running), asked(request, "")))
	require.Equal(t, ReasonDone, v.Reason)
	require.Equal(t, OpNone, v.Call.Op)
}

// Servers suspend block devices only: nothing is asked of the others, nothing is answered for them, and they do not move.
func TestAFrontendThatCannotBeSuspendedStaysWhereItIs(t *testing.T) {
	for _, frontend := range []string{"nvmf", "ublk", ""} {
		v := Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), asked(request, ""),
			func(w *World) { w.Object.Frontend = frontend }))
		require.Equal(t, ReasonSuspendUnsupported, v.Reason)
		require.Equal(t, OpNone, v.Call.Op)
		require.Empty(t, v.Status.Suspended)
	}
}

// Whatever its switch-over is, a frontend that must hold its I/O and does not is never moved, and one that must not is never suspended.
func TestAFrontendThatShallHoldDoesNotMoveBeforeItDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world(recordedAt(rapid.SampledFrom([]string{oldTarget, newTarget}).Draw(t, "record")),
			serving(rapid.SampledFrom([][]string{nil, {oldTarget}, {newTarget}, {oldTarget, newTarget}}).Draw(t, "serving")...),
			at(rapid.SampledFrom([]string{"", phasePreparing, phaseSwitching, phasePromoting, phaseReverting}).Draw(t, "phase"),
				rapid.Bool().Draw(t, "accepted")),
			asked(rapid.SampledFrom([]string{"", earlier, request}).Draw(t, "asked"),
				rapid.SampledFrom([]string{"", earlier, request}).Draw(t, "answered")))
		if rapid.Bool().Draw(t, "held") {
			held(&w)
		}
		v := Decide(w)
		shall, does := w.Object.Suspend != "", w.Here.Entry.State == v1beta2.InstanceStateSuspended
		require.False(t, shall && !does && (v.Call.Op == OpSwitchOver || v.Call.Op == OpRevert))
		require.False(t, !shall && v.Call.Op == OpSuspend)
		require.False(t, shall && v.Call.Op == OpResume)
		require.False(t, !does && v.Status.Suspended != "" && v.Status.Suspended != w.Status.Suspended,
			"nothing is answered that is not so")
	})
}
