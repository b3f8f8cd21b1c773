package instancecontroller_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
)

const heldSince = "2026-01-01T00:00:01.5Z"

// held waits until the request is answered, and the frontend is where it is reported to be.
func (w *world) held(f *v1beta2.EngineFrontend, request string, at *v1beta2.Engine) {
	w.t.Helper()
	name := f.Name
	w.Eventually(func() bool {
		*f = v1beta2.EngineFrontend{}
		return w.Get(name, f) && f.Status.CurrentState == v1beta2.InstanceStateSuspended && f.Status.SuspendedAt == request &&
			f.Status.TargetIP == at.Status.StorageIP && f.Status.TargetPort == at.Status.Port && f.Status.SwitchoverPhase == ""
	}, "the frontend never held its I/O at %s", at.Name)
}

// running waits until a frontend does not hold its I/O.
func (w *world) running(f *v1beta2.EngineFrontend) {
	w.t.Helper()
	name := f.Name
	w.Eventually(func() bool {
		*f = v1beta2.EngineFrontend{}
		return w.Get(name, f) && f.Status.CurrentState == v1beta2.InstanceStateRunning
	}, "frontend %s never let its I/O continue", name)
}

// turns are the calls that suspend, resume or switch over a frontend, in short form.
func (w *world) turns() (out []string) {
	for _, c := range w.Servers.Calls() {
		switch {
		case c.Suspend != "":
			out = append(out, "suspend")
		case c.Resume != "":
			out = append(out, "resume")
		case c.SwitchOver != nil:
			out = append(out, c.SwitchOver.Phase)
		}
	}
	return out
}

// holdAndMove holds the I/O, moves under it, and lets it continue.
func (w *world) holdAndMove(first, second string) {
	w.t.Helper()
	_, e, f := w.openV2("vol", first)
	there := w.target("vol-e-1", "vol", second, e)
	w.spec(f, map[string]any{"suspendRequestedAt": heldSince})
	w.held(f, heldSince, e)
	w.moveTo(f, there)
	w.held(f, heldSince, there)
	w.spec(f, map[string]any{"suspendRequestedAt": nil})
	w.running(f)
	w.moved(f, there)
	require.Empty(w.t, f.Status.SuspendedAt)
}

func TestAFrontendThatHoldsItsIOMovesAndGoesOnWhenItMay(t *testing.T) {
	w := newWorld(t, "hold-1", "hold-2")
	w.holdAndMove("hold-1", "hold-2")
	require.Equal(t, []string{"suspend", "preparing", "switching", "promoting", "resume"}, w.turns())
}

// Both asked for at once: nothing moves before all I/O is held.
func TestAFrontendIsHeldBeforeItMoves(t *testing.T) {
	w := newWorld(t, "first-1", "first-2")
	_, e, f := w.openV2("vol", "first-1")
	second := w.target("vol-e-1", "vol", "first-2", e)
	w.spec(f, map[string]any{"suspendRequestedAt": heldSince, "engineName": second.Name, "targetIP": second.Status.StorageIP,
		"targetPort": second.Status.Port})
	w.held(f, heldSince, second)
	require.Equal(t, []string{"suspend", "preparing", "switching", "promoting"}, w.turns())
}

// What was held once and is not any more is not passed off as held: whoever asked may count on it already.
func TestARequestThatWasAnsweredIsNotAnsweredTwice(t *testing.T) {
	w := newWorld(t, "once-1")
	_, e, f := w.openV2("vol", "once-1")
	w.spec(f, map[string]any{"suspendRequestedAt": heldSince})
	w.held(f, heldSince, e)
	i, there := w.Servers.Instance(manager("once-1", "v2"), f.Name)
	require.True(t, there)
	i.State = v1beta2.InstanceStateRunning // its server started again
	w.Servers.Put(manager("once-1", "v2"), i)
	w.running(f)
	w.never(func() bool { return len(w.turns()) > 1 }, "it was suspended again for the same request")
	require.Equal(t, heldSince, f.Status.SuspendedAt)
	again := "2026-01-01T00:00:09Z"
	w.spec(f, map[string]any{"suspendRequestedAt": again})
	w.held(f, again, e)
}

// ALL-2: whichever call the process dies at, the next one continues.
func TestAHeldMoveEndsWhateverCallTheProcessDiesAt(t *testing.T) {
	for call := range int32(5) {
		t.Run(strconv.Itoa(int(call)+1), func(t *testing.T) {
			w := newWorld(t, "dies-1", "dies-2")
			var count atomic.Int32
			w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
				if (c.SwitchOver != nil || c.Suspend != "" || c.Resume != "") && count.Add(1) == call+1 {
					w.Crash()
				}
				return nil
			})
			w.holdAndMove("dies-1", "dies-2")
		})
	}
}
