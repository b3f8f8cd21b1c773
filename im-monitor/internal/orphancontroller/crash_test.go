package orphancontroller_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit/cut"
)

// scenario is a scenario that a crash may interrupt anywhere: what is there, what happens, and how it must end.
type scenario struct {
	name string
	uuid string
	// begin fills the world; act is what people do once the orphan is evaluated.
	begin func(*world)
	act   func(*world, *v1beta2.Orphan)
	// end is the condition that the orphan ends with.
	end    string
	reason string
	// effective is how many calls had an effect in the end.
	effective int
	// orphan waits for the Orphan of the scenario; nil is that of the instance vol-1-e-0.
	orphan func(*world) *v1beta2.Orphan
}

var cutScenarios = []scenario{
	{
		name: "O1, O9: an engine without object is deleted", uuid: uuid1, end: v1beta2.OrphanInstanceState,
		reason: v1beta2.InstanceStateTerminated, effective: 1,
		begin: func(w *world) { w.store.put(imV2, instance("vol-1-e-0", "engine", "running", uuid1)) },
		act:   func(w *world, o *v1beta2.Orphan) { w.approve(o) },
	},
	{
		name: "O6: a claimed replica loses its runtime", uuid: uuid1, end: v1beta2.OrphanInstanceState,
		reason: v1beta2.InstanceStateTerminated, effective: 1,
		begin: func(w *world) {
			w.replica("vol-1-e-0", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "stopped"},
				map[string]any{"currentState": "stopped"})
			w.store.put(imV2, instance("vol-1-e-0", "replica", "running", uuid1))
		},
		act: func(w *world, o *v1beta2.Orphan) { w.approve(o) },
	},
	{
		name: "O8: the name comes back with another UUID", uuid: uuid1, end: v1beta2.OrphanWithdrawn, reason: v1beta2.ReasonUUIDMismatch,
		begin: func(w *world) { w.store.put(imV2, instance("vol-1-e-0", "engine", "running", uuid1)) },
		act: func(w *world, o *v1beta2.Orphan) {
			w.store.put(imV2, instance("vol-1-e-0", "engine", "running", uuid2))
			w.approve(o)
		},
	},
	{
		name: "O10: the Replica is scheduled back", uuid: uuid1, end: v1beta2.OrphanWithdrawn, reason: v1beta2.ReasonClaimed,
		begin: func(w *world) { w.store.put(imV2, instance("vol-1-e-0", "replica", "running", uuid1)) },
		act: func(w *world, o *v1beta2.Orphan) {
			w.replica("vol-1-e-0", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "running"},
				runningOn(imV2, "node-1"))
			w.approve(o)
		},
	},
}

// ALL-2: a crash before or after any write ends in the same state, with the same effect on the data plane.
func TestACrashAtAnyWriteConverges(t *testing.T) {
	for _, s := range cutScenarios {
		t.Run(s.name, func(t *testing.T) {
			writes := len(s.play(t, cut.Point{}).Writes())
			require.Positive(t, writes)
			for _, point := range cut.Points(writes) {
				t.Run(point.String(), func(t *testing.T) {
					t.Parallel()
					s.play(t, point)
				})
			}
			t.Logf("%d crash points", 2*writes)
		})
	}
}

// play runs the scenario; when the cut comes, the process is replaced by a new one.
func (s scenario) play(t *testing.T, point cut.Point) *cut.Client {
	w := newWorld(t)
	s.begin(w)
	var first *cut.Client
	crashed := make(chan struct{})
	w.wrap = func(inner client.Client) client.Client {
		if first != nil {
			return inner
		}
		first = cut.New(inner, point, func() { close(crashed) })
		return first
	}
	w.start()
	over := make(chan struct{})
	var replaced sync.WaitGroup
	replaced.Go(func() {
		select {
		case <-crashed:
			w.stop()
			w.start()
		case <-over:
		}
	})
	var o *v1beta2.Orphan
	if s.orphan != nil {
		o = s.orphan(w)
	} else {
		o = w.orphanOf(imV2, "vol-1-e-0", s.uuid, "v2")
	}
	s.act(w, o)
	s.ends(w, o)
	close(over)
	replaced.Wait()
	return first
}

func (s scenario) ends(w *world, o *v1beta2.Orphan) {
	status := v1beta2.ConditionTrue
	if s.end == v1beta2.OrphanInstanceState {
		status = v1beta2.ConditionFalse
	}
	done := w.reports(o, s.end, status, s.reason)
	require.Nil(w.t, conditions.Get(done.Status.Conditions, v1beta2.OrphanCleanupFailed))
	require.Equal(w.t, s.effective, w.store.effective(), "calls: %+v", w.store.executed())
	for _, call := range w.store.executed() {
		require.Equal(w.t, s.uuid, call.UUID)
	}
}

// The same for the call: it is lost before the server saw it, or its answer is.
func TestACrashAroundTheCallConverges(t *testing.T) {
	for _, executed := range []bool{false, true} {
		t.Run(fmt.Sprintf("executed %v", executed), func(t *testing.T) {
			w := newWorld(t)
			w.store.put(imV2, instance("vol-1-e-0", "engine", "running", uuid1))
			crashed := make(chan struct{})
			w.store.onDelete = func(request imclient.DeleteRequest) error {
				w.store.mu.Lock()
				w.store.onDelete = nil
				w.store.mu.Unlock()
				if executed {
					w.store.remove(imV2, request.Name, true)
				}
				close(crashed)
				return imclient.ErrUnreachable
			}
			w.start()
			o := w.orphanOf(imV2, "vol-1-e-0", uuid1, "v2")
			w.approve(o)
			<-crashed
			w.stop()
			w.start()
			w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
			require.Len(t, w.store.executed(), map[bool]int{false: 2, true: 1}[executed])
		})
	}
}

// The model's counterexample: evidence written while the call is out would free the name for another leader.
func TestNoEndIsWrittenWhileACallIsOut(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV2, instance("vol-1-r-aa", "replica", "stopped", uuid1))
	sent, release := make(chan struct{}), make(chan struct{})
	w.store.onDelete = func(imclient.DeleteRequest) error {
		close(sent)
		<-release
		return imclient.ErrRefused
	}
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
	w.approve(o)
	<-sent
	w.replica("vol-1-r-aa", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "running"}, runningOn(imV2, "node-1"))
	w.store.put(imV2, instance("vol-1-r-aa", "replica", "running", uuid1))
	require.Never(t, func() bool {
		return slices.ContainsFunc(w.orphans(), func(o v1beta2.Orphan) bool {
			return conditions.IsTrue(o.Status.Conditions,
				v1beta2.OrphanWithdrawn)
		})
	}, 500*time.Millisecond, tick)
	close(release)
	w.reports(o, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonClaimed)
}
