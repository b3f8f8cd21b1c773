package instance

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

const request, earlier = "2026-01-01T00:00:02Z", "2026-01-01T00:00:01Z"

// asked is a request to suspend I/O, answered the last one that was answered; both may be empty.
func asked(request, answered string) change {
	return func(w *World) { w.Object.Suspend, w.Status.Suspended = request, answered }
}

func held(w *World) {
	w.Here.Entry.State, w.Status.State = v1beta2.InstanceStateSuspended, v1beta2.InstanceStateSuspended
}

func TestTheIOOfAFrontendIsSuspendedAsLongAsRequested(t *testing.T) {
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
		{"no request, it runs", world(atNew, both), OpNone, "", ReasonDone, ""},
		{"requested, it runs: it is suspended before it switches over",
			world(atOld, both, asked(request, "")), OpSuspend, "", ReasonCalling, ""},
		{"requested again, it runs: it is suspended, and the earlier answer does not count",
			world(atOld, none, asked(request, earlier)), OpSuspend, "",
			ReasonCalling, earlier},
		{"requested and suspended, it switches over, and answers when it is at its target",
			world(atOld, both, held, asked(request, "")), OpSwitchOver,
			phasePreparing, ReasonCalling, ""},
		{"requested and suspended, it is at its target", world(atNew, both, held, asked(request, "")), OpNone, "", ReasonDone, request},
		{"requested and suspended, while a call is in progress: not answered",
			world(atNew, both, held, asked(request, earlier), func(w *World) { w.Unsettled = true }), OpNone, "", ReasonDone, earlier},
		{"requested and suspended, it cannot switch over",
			world(atOld, none, held, asked(request, "")), OpNone, "", ReasonTargetNotServing, request},
		{"requested again and suspended: that is answered, too",
			world(atNew, both, held, asked(request, earlier)), OpNone, "", ReasonDone, request},
		{"requested, suspended, runs again: it neither switches over nor is suspended for this request",
			world(atOld, both, asked(request, request)),
			OpNone, "", ReasonSuspensionLost, request},
		{"no longer requested: it switches over first",
			world(atOld, both, held, asked("", request)), OpSwitchOver, phasePreparing, ReasonCalling,
			""},
		{"no longer requested, during the switch-over",
			world(atOld, both, at(phaseSwitching, true), held, asked("", request)), OpSwitchOver,
			phasePromoting, ReasonCalling, ""},
		{"no longer requested, it cannot switch over: it stays suspended", world(atOld, none, held, asked("", request)), OpNone, "",
			ReasonTargetNotServing, ""},
		{"no longer requested, at its target: it resumes", world(atNew, both, held, asked("", request)), OpResume, "", ReasonCalling, ""},
		{"it resumed, and the answer is removed", world(atNew, both, asked("", request)), OpNone, "", ReasonDone, ""},
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

func TestOnlyFrontendsAreSuspended(t *testing.T) {
	v := Decide(world(wanted, status(was(running)), lists(running), asked(request, "")))
	require.Equal(t, ReasonDone, v.Reason)
	require.Equal(t, OpNone, v.Call.Op)
}

// Servers suspend block devices only: other frontends get no call and no answer, and do not switch over.
func TestAFrontendThatCannotBeSuspendedStaysWhereItIs(t *testing.T) {
	for _, frontend := range []string{"nvmf", "ublk", ""} {
		v := Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), asked(request, ""),
			func(w *World) { w.Object.Frontend = frontend }))
		require.Equal(t, ReasonSuspendUnsupported, v.Reason)
		require.Equal(t, OpNone, v.Call.Op)
		require.Empty(t, v.Status.Suspended)
	}
	v := Decide(world(recordedAt(oldTarget), asked(request, ""), func(w *World) { w.Object.DisableFrontend = true }))
	require.Equal(t, ReasonSuspendUnsupported, v.Reason, "a block device that is disabled is none")
}

// In any state of its switch-over, a frontend that is to be suspended and is not never moves, and one that is not to be is never suspended.
func TestAFrontendToBeSuspendedDoesNotMoveBeforeItIsSuspended(t *testing.T) {
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
		must, does := w.Object.Suspend != "", w.Here.Entry.State == v1beta2.InstanceStateSuspended
		require.False(t, must && !does && (v.Call.Op == OpSwitchOver || v.Call.Op == OpRevert))
		require.False(t, !must && v.Call.Op == OpSuspend)
		require.False(t, must && v.Call.Op == OpResume)
		require.False(t, !does && v.Status.Suspended != "" && v.Status.Suspended != w.Status.Suspended,
			"an answer is true")
	})
}

func TestACallThatTurnsIOOffOrOnNamesWhy(t *testing.T) {
	both := serving(oldTarget, newTarget)
	for want, w := range map[string]World{
		"im-1 is asked to suspend it. Its I/O is suspended before it fails over to another target.": world(recordedAt(oldTarget), both,
			asked(request, "")),
		"im-1 is asked to resume it. It is at its target, so its I/O resumes.": world(recordedAt(newTarget), both, held, asked("", request)),
	} {
		v := Decide(w)
		require.Equal(t, want, v.Message)
		require.Equal(t, Call{Op: v.Call.Op, InstanceManager: im}, v.Call)
	}
	lost := Decide(world(recordedAt(oldTarget), both, asked(request, request)))
	require.Equal(t, "Its I/O was suspended on request and is no longer suspended: it stays at its target until a new request.", lost.Message)
}

func TestAFrontendThatServersDoNotSuspendIsAnsweredOnlyWhereItIsSuspended(t *testing.T) {
	nvmf := func(w *World) { w.Object.Frontend = "nvmf" }
	both := serving(oldTarget, newTarget)
	require.Equal(t, request, Decide(world(recordedAt(newTarget), both, held, asked(request, ""), nvmf)).Status.Suspended)
	v := Decide(world(recordedAt(newTarget), both, asked(request, request), nvmf))
	require.Equal(t, ReasonSuspendUnsupported, v.Reason)
	require.Equal(t, `Its I/O is to be suspended, and frontend "nvmf" does not support that: it stays until its target answers.`, v.Message)
}
