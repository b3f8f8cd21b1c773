package instancecontroller_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// target makes a second engine of a v2 volume, which must be the target on another node, and lets it run.
func (w *world) target(name, volume, node string, beside *v1beta2.Engine) *v1beta2.Engine {
	w.t.Helper()
	require.NoError(w.t, w.modes(beside, map[string]any{volume + "-r-00000001": "RW"}))
	w.spec(&v1beta2.Volume{ObjectMeta: w.meta(volume)}, map[string]any{"targetNodeID": node})
	e := w.engine(name, volume, node, "v2")
	w.spec(e, map[string]any{"active": false, "desireState": "running"})
	return w.engineIs(e.Name, v1beta2.InstanceStateRunning)
}

// moveTo names another target, moved waits until the frontend is there.
func (w *world) moveTo(f *v1beta2.EngineFrontend, e *v1beta2.Engine) {
	w.t.Helper()
	w.spec(f, map[string]any{"engineName": e.Name, "targetIP": e.Status.StorageIP, "targetPort": e.Status.Port})
}

func (w *world) moved(f *v1beta2.EngineFrontend, e *v1beta2.Engine) {
	w.t.Helper()
	w.Eventually(func() bool {
		*f = v1beta2.EngineFrontend{ObjectMeta: w.meta(f.Name)}
		return w.Get(f.Name, f) && f.Status.TargetIP == e.Status.StorageIP && f.Status.TargetPort == e.Status.Port &&
			f.Status.SwitchoverPhase == ""
	}, "the frontend never moved to %s", e.Name)
	require.Equal(w.t, v1beta2.InstanceStateRunning, f.Status.CurrentState)
	require.Zero(w.t, f.Status.Switchover)
	require.Equal(w.t, e.Name, f.Status.Paths[len(f.Status.Paths)-1].EngineName)
	require.Equal(w.t, imclient.ANAOptimized, w.Servers.Path(e.Name))
	require.Empty(w.t, w.Servers.Harm())
}

// phases are those that servers were asked for, with the engine.
func (w *world) phases() (out []string) {
	for _, c := range w.Servers.Calls() {
		if c.SwitchOver != nil {
			out = append(out, c.SwitchOver.Phase+" "+c.SwitchOver.EngineName)
		}
	}
	return out
}

// paths are the paths that servers were asked to open or to close.
func (w *world) paths() (out []string) {
	for _, c := range w.Servers.Calls() {
		if c.Path != "" {
			out = append(out, c.Path)
		}
	}
	return out
}

func TestAFrontendMovesToAnotherEngineInThreePhasesAndBack(t *testing.T) {
	w := newWorld(t, "move-1", "move-2")
	_, e, f := w.openV2("vol", "move-1")
	second := w.target("vol-e-1", "vol", "move-2", e)
	w.moveTo(f, second)
	w.moved(f, second)
	w.moveTo(f, e)
	w.moved(f, e)
	require.Equal(t, []string{"preparing vol-e-1", "switching vol-e-1", "promoting vol-e-1", "preparing vol-e-0", "switching vol-e-0",
		"promoting vol-e-0"}, w.phases())
}

// An addition that was answered continues in its engine: the frontend leaves only once that replica has everything.
func TestAFrontendStaysWhereItIsWhileItsEngineRebuildsAReplica(t *testing.T) {
	w := newWorld(t, "copy-1", "copy-2")
	_, e, f := w.openV2("vol", "copy-1")
	second := w.target("vol-e-1", "vol", "copy-2", e)
	require.NoError(t, w.modes(e, map[string]any{"vol-r-00000001": "WO"}))
	w.moveTo(f, second)
	w.never(func() bool { return len(w.phases()) > 0 }, "the frontend left an engine that rebuilds a replica")
	require.NoError(t, w.modes(e, map[string]any{"vol-r-00000001": "RW"}))
	w.moved(f, second)
}

// What a leader before called shows in a poll, and so does what was called last: until then the old target is not closed.
func TestAFrontendStaysWhereItIsUntilItsEngineWasPolled(t *testing.T) {
	for name, unknown := range map[string]func(*instancecontroller.Options, func() bool){
		"since this process leads": func(o *instancecontroller.Options, shown func() bool) {
			o.Polled = func(string) bool { return shown() }
		},
		"since the last call": func(o *instancecontroller.Options, shown func() bool) {
			o.Working = func(string) bool { return !shown() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var shown atomic.Bool
			w := newWorldWith(t, cut.Point{}, func(o *instancecontroller.Options) { unknown(o, shown.Load) }, "poll-1", "poll-2")
			_, e, f := w.openV2("vol", "poll-1")
			second := w.target("vol-e-1", "vol", "poll-2", e)
			w.moveTo(f, second)
			w.Eventually(func() bool { return len(w.phases()) > 0 }, "nothing was prepared")
			w.never(func() bool { return slices.Contains(w.phases(), "switching vol-e-1") }, "the frontend left an engine that was not polled")
			shown.Store(true)
			w.moved(f, second)
		})
	}
}

// UPG-3: a new engine that does not run is never asked for, however long the spec names it.
func TestAFrontendStaysWhereItIsWhileTheNewEngineDoesNotServe(t *testing.T) {
	w := newWorld(t, "stay-1", "stay-2")
	_, e, f := w.openV2("vol", "stay-1")
	second := w.target("vol-e-1", "vol", "stay-2", e)
	w.Servers.Drop(manager("stay-2", "v2"), second.Name)
	w.engineIs(second.Name, v1beta2.InstanceStateError)
	w.moveTo(f, second)
	w.never(func() bool { return len(w.phases()) > 0 }, "asked for an engine that failed")
	w.moveTo(f, e)
	w.moved(f, e)
}

// UPG-3: an error half-way brings the old target back, and then it is tried again.
func TestADeclinedPhaseBringsTheOldTargetBackAndTheMoveIsTriedAgain(t *testing.T) {
	for _, phase := range []string{"preparing", "switching", "promoting"} {
		t.Run(phase, func(t *testing.T) {
			w := newWorld(t, "back-1", "back-2")
			_, e, f := w.openV2("vol", "back-1")
			second := w.target("vol-e-1", "vol", "back-2", e)
			var declined atomic.Bool
			w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
				if c.SwitchOver != nil && c.SwitchOver.Phase == phase && c.SwitchOver.EngineName == second.Name &&
					declined.CompareAndSwap(false, true) {
					return &imclient.CallError{Method: "InstanceSwitchOverTarget", Address: "scripted", Kind: imclient.ErrRefused,
						Err: errors.New("declined")}
				}
				return nil
			})
			w.moveTo(f, second)
			w.moved(f, second)
			require.True(t, declined.Load())
			if phase != "preparing" {
				require.Equal(t, []string{e.Name + " optimized", second.Name + " inaccessible", e.Name + " optimized"}, w.paths(),
					"the new target is closed, then the old one opened")
			}
		})
	}
}

// thereAndBack switches a frontend over to another engine and back.
func (w *world) thereAndBack(first, second string) {
	w.t.Helper()
	_, e, f := w.openV2("vol", first)
	there := w.target("vol-e-1", "vol", second, e)
	w.moveTo(f, there)
	w.moved(f, there)
	w.moveTo(f, e)
	w.moved(f, e)
}

// ALL-2: whichever write the process dies at, the next one ends the move, there and back.
func TestAMoveEndsWhereverTheProcessDies(t *testing.T) {
	var writes []string
	t.Run("nowhere", func(t *testing.T) {
		w := newWorld(t, "cut-1", "cut-2")
		w.thereAndBack("cut-1", "cut-2")
		writes = w.ExecutorWrites()
	})
	points := slices.DeleteFunc(cut.Points(len(writes)), func(p cut.Point) bool {
		return p.Write <= 9 || !p.After // other tests cut the writes that open the volume; before a write is after the write before it
	})
	for _, at := range cut.Share(points, oneCutOf) {
		t.Run(at.String(), func(t *testing.T) {
			w := newWorldWith(t, at, func(*instancecontroller.Options) {}, "cut-1", "cut-2")
			w.thereAndBack("cut-1", "cut-2")
		})
	}
}

// ALL-2: whichever call the process dies at, the next one ends the move.
func TestAMoveEndsWhateverCallTheProcessDiesAt(t *testing.T) {
	for call := range int32(6) {
		t.Run(strconv.Itoa(int(call)+1), func(t *testing.T) {
			w := newWorld(t, "call-1", "call-2")
			var count atomic.Int32
			w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
				if c.SwitchOver != nil && count.Add(1) == call+1 {
					w.Crash()
				}
				return nil
			})
			w.thereAndBack("call-1", "call-2")
		})
	}
}

// UPG-3: whoever stops an engine may not have seen yet that the frontend went there. It ends once the frontend has left it.
func TestAnEngineThatAFrontendLeadsToIsNotEnded(t *testing.T) {
	w := newWorld(t, "led-1", "led-2")
	_, e, f := w.openV2("vol", "led-1")
	second := w.target("vol-e-1", "vol", "led-2", e)
	w.moveTo(f, second)
	w.moved(f, second)
	w.spec(second, map[string]any{"desireState": "stopped"})
	w.never(func() bool { return w.deleted(second.Name) }, "the engine was ended under its frontend")
	w.moveTo(f, e)
	w.moved(f, e)
	w.Eventually(func() bool { return w.deleted(second.Name) }, "the engine never ended")
}

// deleted reports whether a server was asked to end an instance.
func (w *world) deleted(name string) bool {
	return slices.ContainsFunc(w.Servers.Calls(), func(c shelltest.Call) bool { return c.Delete != nil && c.Delete.Name == name })
}
