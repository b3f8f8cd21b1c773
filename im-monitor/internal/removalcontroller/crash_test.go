package removalcontroller_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// nodeName converts a sentence to a name that no other test uses.
func nodeName(sentence string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(sentence)), "-")
}

// goes is a removal that is held up first and ends; wherever its process dies, it ends the same.
func goes(t *testing.T, at cut.Point, node string) *world {
	t.Helper()
	w := newWorldWith(t, at, removalcontroller.Options{}, node)
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, node, uuid1)
	w.Servers.Shut(manager(node), true)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonUnreachable)
	w.Servers.Shut(manager(node), false)
	w.ends(r, node)
	require.Len(t, w.destroyed(r.Name), 1, "the data is destroyed once")
	return w
}

// ends waits for an end. Who has no memory of the call reports that nothing is there.
func (w *world) ends(r *v1beta2.Replica, node string) {
	w.t.Helper()
	w.Eventually(func() bool {
		reason := w.end(r)
		return reason == v1beta2.ReasonRemoved || reason == v1beta2.ReasonNothingToRemove
	}, "the removal never ended")
	require.False(w.t, w.holds(node, r.Name))
}

// ALL-2.
func TestACrashAtAnyWriteConverges(t *testing.T) {
	writes := len(goes(t, cut.Point{}, "cut-0").RemovalWrites())
	require.GreaterOrEqual(t, writes, 2, "what it waits for, and the end")
	for _, point := range cut.Points(writes) {
		t.Run(point.String(), func(t *testing.T) {
			t.Parallel()
			goes(t, point, nodeName("cut-"+point.String()))
		})
	}
}

// The same for the call: it is lost before the server saw it, or its answer is.
func TestACrashAroundTheCallConverges(t *testing.T) {
	for _, executed := range []bool{false, true} {
		name := map[bool]string{false: "lost before the server saw it", true: "lost with its answer"}[executed]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := nodeName(name)
			w := newWorldWith(t, cut.Point{}, removalcontroller.Options{}, node)
			v := w.volume("vol")
			r := w.replica("vol-r-00000001", v, node, uuid1)
			var once sync.Once
			w.Servers.OnCall(func(ctx context.Context, call shelltest.Call) (err error) {
				once.Do(func() {
					if executed {
						w.Servers.Drop(manager(node), r.Name)
					}
					w.Crash()
					<-ctx.Done()
					err = &imclient.CallError{Method: "InstanceDelete", Address: "scripted", Kind: imclient.ErrUnreachable, Err: ctx.Err()}
				})
				return err
			})
			w.delete(v, r)
			w.approve(r, v1beta2.ReasonVolumeDeleting)
			w.ends(r, node)
			require.Len(t, w.destroyed(r.Name), map[bool]int{false: 2, true: 1}[executed])
		})
	}
}

// An answer that is lost without a crash, and a server that takes its time.
func TestACallWhoseAnswerIsLostIsNotRepeatedBlindly(t *testing.T) {
	w := newWorld(t, "lost-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "lost-1", uuid1)
	w.Servers.OnCall(func(context.Context, shelltest.Call) error {
		w.Servers.Drop(manager("lost-1"), r.Name)
		return &imclient.CallError{Method: "InstanceDelete", Address: "scripted", Kind: imclient.ErrUnreachable,
			Err: context.DeadlineExceeded}
	})
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.ends(r, "lost-1")
	require.Len(t, w.destroyed(r.Name), 1)
}

// Two leaders for a moment: a conforming server executes one of the calls.
func TestTwoLeadersDestroyNothingTwice(t *testing.T) {
	w := newWorld(t, "two-1")
	w.Another()
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "two-1", uuid1)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.ends(r, "two-1")
	for _, call := range w.destroyed(r.Name) {
		require.Equal(t, uuid1, call.UUID)
	}
}
