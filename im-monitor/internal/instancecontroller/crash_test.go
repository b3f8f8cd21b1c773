package instancecontroller_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// cycle opens a v2 volume and closes it, and reports what must be true of every way there.
func (w *world) cycle(node string) {
	w.t.Helper()
	r, e, f := w.openV2("vol", node)
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	im := manager(node, "v2")
	require.False(w.t, w.holds(im, e.Name))
	require.False(w.t, w.holds(im, f.Name))
	data, ok := w.Servers.Instance(im, r.Name)
	require.True(w.t, ok, "the data stays")
	require.Equal(w.t, v1beta2.InstanceStateStopped, data.State)
	// A second leader that has not seen the end yet reports stopping once more, until it has.
	ended := func(state, manager string, starting, started bool) bool {
		return state == v1beta2.InstanceStateStopped && manager == "" && !starting && !started
	}
	w.Eventually(func() bool {
		return w.Get(r.Name, r) && ended(r.Status.CurrentState, r.Status.InstanceManagerName, r.Status.Starting, r.Status.Started) &&
			w.Get(e.Name, e) && ended(e.Status.CurrentState, e.Status.InstanceManagerName, e.Status.Starting, e.Status.Started) &&
			w.Get(f.Name, f) && ended(f.Status.CurrentState, f.Status.InstanceManagerName, f.Status.Starting, f.Status.Started)
	}, "a status keeps something of the run")
	w.everyCreationWasRecorded()
}

// everyCreationWasRecorded: no creation reached a server before its object reported it.
func (w *world) everyCreationWasRecorded() {
	w.t.Helper()
	w.unemitted.mu.Lock()
	defer w.unemitted.mu.Unlock()
	require.Empty(w.t, w.unemitted.bad)
}

// records are the creations that reached a server before the stored object reported starting, each with what it reported instead.
type records struct {
	mu  sync.Mutex
	bad []string
}

// watchRecords also takes these states for an announcement.
func (w *world) watchRecords(or ...string) {
	a := &w.unemitted
	w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
		if c.Create == nil {
			return nil
		}
		// Whether the caller still waits for its call changes nothing about what was recorded before it.
		if why := w.unrecorded(w.t.Context(), c.Create.Type, c.Create.Name, or); why != "" {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.bad = append(a.bad, c.Create.Name+": "+why)
		}
		return nil
	})
}

// unrecorded is what the stored object reports in the place of a start; empty: it reports the start, or one of the states.
func (w *world) unrecorded(ctx context.Context, kind, name string, or []string) string {
	key := client.ObjectKey{Namespace: w.Namespace, Name: name}
	var starting bool
	var state string
	var err error
	switch kind {
	case v1beta2.InstanceTypeEngine:
		var e v1beta2.Engine
		err = w.Admin.Get(ctx, key, &e)
		starting, state = e.Status.Starting, e.Status.CurrentState
	case v1beta2.InstanceTypeEngineFrontend:
		var f v1beta2.EngineFrontend
		err = w.Admin.Get(ctx, key, &f)
		starting, state = f.Status.Starting, f.Status.CurrentState
	default:
		var r v1beta2.Replica
		err = w.Admin.Get(ctx, key, &r)
		starting, state = r.Status.Starting, r.Status.CurrentState
	}
	switch {
	case err != nil:
		return err.Error()
	case starting || slices.Contains(or, state):
		return ""
	}
	return fmt.Sprintf("state %q", state)
}

// ALL-2: whichever write the process dies at, the next one brings the volume up and down again, with every creation emitted first and
// nothing left behind.
func TestAProcessThatDiesAtAnyWriteIsFollowedByOneThatFinishes(t *testing.T) {
	var writes []string
	t.Run("nowhere", func(t *testing.T) {
		w := newWorld(t, "crash-0")
		w.watchRecords()
		w.cycle("crash-0")
		writes = w.ExecutorWrites()
	})
	require.GreaterOrEqual(t, len(writes), 9, "emitted, running and stopped for each of three")
	for _, at := range cut.Share(cut.Points(len(writes)), oneCutOf) {
		t.Run(at.String(), func(t *testing.T) {
			w := newWorldWith(t, at, func(*instancecontroller.Options) {}, "crash-1")
			w.watchRecords()
			w.cycle("crash-1")
		})
	}
}

// Two leaders open and close a volume together. The call of one may come when the other's instance runs already: it changes
// nothing.
func TestTwoLeadersOpenAndCloseAVolumeAsOneDoes(t *testing.T) {
	w := newWorld(t, "both-1")
	w.Another()
	w.watchRecords(v1beta2.InstanceStateRunning)
	w.cycle("both-1")
}

// Two leaders for a moment: each instance exists once, its creation was emitted, and the end is the same.
func TestTwoLeadersBringUpOneOfEach(t *testing.T) {
	w := newWorld(t, "two-1", "two-2")
	w.watchRecords(v1beta2.InstanceStateRunning)
	w.Another()
	w.volume("vol", "v1")
	first, second := w.engine("vol-e-0", "vol", "two-1", "v1"), w.engine("vol-e-1", "vol", "two-2", "v1")
	w.run(first)
	w.engineIs(first.Name, v1beta2.InstanceStateRunning)
	w.run(second)
	w.never(func() bool { return w.holds(manager("two-2", "v1"), second.Name) }, "two engines")
	w.stop(first)
	w.engineIs(second.Name, v1beta2.InstanceStateRunning)
	w.engineIs(first.Name, v1beta2.InstanceStateStopped)
	w.everyCreationWasRecorded()
}
