package removalcontroller_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

// pair is an attached volume with a stopped surplus replica and another copy, which its engine uses.
type pair struct {
	*world
	surplus, kept *v1beta2.Replica
	engine        *v1beta2.Engine
}

func newPair(t *testing.T, options removalcontroller.Options, first, second string) *pair {
	t.Helper()
	w := newWorldWith(t, cut.Point{}, options, first, second)
	v := w.volume("vol")
	p := &pair{world: w, surplus: w.replica("vol-r-00000001", v, first, uuid1), kept: w.running("vol-r-00000002", v, second, uuid2)}
	p.engine = w.engine("vol-e-0", v, first, map[string]string{p.kept.Name: "RW"})
	return p
}

// A15b, UPG-1: whoever approved both was wrong.
func TestOfTwoReplicasThatAreDeletedAtOnceNoneIsTheOthersCopy(t *testing.T) {
	p := newPair(t, removalcontroller.Options{}, "both-1", "both-2")
	p.delete(p.surplus, p.kept)
	p.polled(p.engine, map[string]string{p.kept.Name: "RW"})
	p.approve(p.surplus, v1beta2.ReasonHealthyCopyElsewhere)
	p.approve(p.kept, v1beta2.ReasonHealthyCopyElsewhere)
	p.keeps(p.surplus.Name)
	require.Empty(t, p.destroyed(p.surplus.Name, p.kept.Name))
	require.True(t, p.holds("both-1", p.surplus.Name))
	require.True(t, p.holds("both-2", p.kept.Name))
}

// A15b, ORP-2: the premise of the approval is checked again after everything else, right before the call.
func TestACopyThatIsLostBetweenTheApprovalAndTheCallSavesTheOther(t *testing.T) {
	rw := func(p *pair) map[string]string { return map[string]string{p.kept.Name: "RW"} }
	for name, lose := range map[string]func(t *testing.T, p *pair) (map[string]string, error){
		"its Replica is deleted": func(_ *testing.T, p *pair) (map[string]string, error) {
			p.delete(p.kept)
			return rw(p), nil
		},
		"it failed": func(t *testing.T, p *pair) (map[string]string, error) {
			return rw(p), status.MergeSpec(t.Context(), p.Admin, p.kept, map[string]any{"failedAt": "2026-01-02T00:00:00Z"})
		},
		"its node is down": func(t *testing.T, p *pair) (map[string]string, error) {
			p.NodeReady(p.kept.Spec.NodeID, corev1.ConditionUnknown)
			p.Eventually(func() bool {
				var n v1beta2.Node
				return p.Get(p.kept.Spec.NodeID, &n) && v1beta2.IsNodeDown(&n)
			}, "the node never went down")
			return rw(p), nil
		},
		"the engine reports that it failed": func(_ *testing.T, p *pair) (map[string]string, error) {
			return map[string]string{p.kept.Name: "ERR"}, nil
		},
		"the engine rebuilds it": func(_ *testing.T, p *pair) (map[string]string, error) {
			return map[string]string{p.kept.Name: "WO"}, nil
		},
		"the engine does not answer": func(*testing.T, *pair) (map[string]string, error) { return nil, errors.New("partitioned") },
		"the engine uses the surplus again": func(_ *testing.T, p *pair) (map[string]string, error) {
			return map[string]string{p.kept.Name: "RW", p.surplus.Name: "WO"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p *pair
			ready := make(chan struct{})
			var once sync.Once
			var modes map[string]string
			var err error
			asked := make(chan struct{})
			poll := func(context.Context, *v1beta2.Engine) (map[string]string, error) {
				<-ready
				once.Do(func() {
					modes, err = lose(t, p)
					close(asked)
				})
				return modes, err
			}
			id := nodeName(name)
			p = newPair(t, removalcontroller.Options{Poll: poll}, id+"-1", id+"-2")
			close(ready)
			p.delete(p.surplus)
			p.polled(p.engine, rw(p))
			p.approve(p.surplus, v1beta2.ReasonHealthyCopyElsewhere)
			<-asked
			p.keeps(p.surplus.Name)
			require.True(t, p.holds(id+"-1", p.surplus.Name))
		})
	}
}

// The engine's status may be older than what happened to the other copy: the newest list counts, too.
func TestACopyThatNoListShowsRunningIsNoCopy(t *testing.T) {
	p := newPair(t, removalcontroller.Options{}, "unlisted-1", "unlisted-2")
	p.delete(p.surplus)
	p.polled(p.engine, map[string]string{p.kept.Name: "RW"})
	p.Servers.Drop(manager("unlisted-2"), p.kept.Name)
	p.approve(p.surplus, v1beta2.ReasonHealthyCopyElsewhere)
	p.keeps(p.surplus.Name)
}

func TestACopyOnAnInstanceManagerThatDoesNotAnswerIsNoCopy(t *testing.T) {
	p := newPair(t, removalcontroller.Options{}, "mute-1", "mute-2")
	p.delete(p.surplus)
	p.polled(p.engine, map[string]string{p.kept.Name: "RW"})
	p.Servers.Shut(manager("mute-2"), true)
	p.approve(p.surplus, v1beta2.ReasonHealthyCopyElsewhere)
	p.keeps(p.surplus.Name)
	p.Servers.Shut(manager("mute-2"), false)
	p.removed(p.surplus, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}
