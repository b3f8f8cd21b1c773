package instancecontroller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

// modes simulates the engine poll.
func (w *world) modes(e *v1beta2.Engine, modes map[string]any) error {
	return status.MergeStatus(w.t.Context(), w.Admin, e, map[string]any{"replicaModeMap": modes})
}

// O6: a detach within a moment of the attach leaves no process.
func TestAHundredRapidDetachesLeaveNoProcess(t *testing.T) {
	w := newWorld(t, "rapid-1")
	im := manager("rapid-1", "v1")
	w.volume("vol", "v1")
	r := w.replica("vol-r-00000001", "vol", "rapid-1", "v1")
	for n := range 100 {
		if n > 0 && n%4 == 0 { // one that is wanted again before it has ended is found missing, and stays an error until it is stopped
			w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
		}
		w.run(r)
		if n%4 == 0 {
			w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
		}
		w.stop(r)
	}
	w.Eventually(func() bool {
		return w.Get(r.Name, r) && r.Status.CurrentState == v1beta2.InstanceStateStopped && !r.Status.Starting && !w.holds(im, r.Name)
	}, "a process or its trace is left: %+v", r.Status)
	w.never(func() bool { return w.holds(im, r.Name) }, "it came back")
}

func TestAnInstanceThatVanishesIsAnErrorAndStartsAgainOnlyAfterAStop(t *testing.T) {
	w := newWorld(t, "gone-1")
	im := manager("gone-1", "v1")
	w.volume("vol", "v1")
	r := w.replica("vol-r-00000001", "vol", "gone-1", "v1")
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	w.Servers.Drop(im, r.Name)
	w.replicaIs(r.Name, v1beta2.InstanceStateError)
	w.never(func() bool { return w.holds(im, r.Name) }, "it was started again unasked")
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	require.Len(t, w.creations(r.Name), 2)
}

func TestAnUnreachableInstanceManagerMakesItsInstancesUnknown(t *testing.T) {
	w := newWorld(t, "unknown-1")
	im := manager("unknown-1", "v1")
	w.volume("vol", "v1")
	r := w.replica("vol-r-00000001", "vol", "unknown-1", "v1")
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	w.Servers.Shut(im, true)
	require.NotEmpty(t, w.replicaIs(r.Name, v1beta2.InstanceStateUnknown).Status.IP, "where it was stays reported")
	w.stop(r)
	w.never(func() bool { // which may outlive its time, and reads into an object of its own
		seen := &v1beta2.Replica{}
		return w.Get(r.Name, seen) && seen.Status.CurrentState != v1beta2.InstanceStateUnknown
	}, "unknown was taken for stopped")
	w.Servers.Shut(im, false)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	require.False(t, w.holds(im, r.Name))
}

func TestWhatExistsAlreadyIsLookedAtAndARefusalIsAnErrorInTheEnd(t *testing.T) {
	w := newWorld(t, "refuse-1")
	im := manager("refuse-1", "v1")
	w.volume("vol", "v1")
	r := w.replica("vol-r-00000001", "vol", "refuse-1", "v1")
	exists := &imclient.CallError{Method: "InstanceCreate", Address: "scripted", Kind: imclient.ErrAlreadyExists,
		Err: errors.New("it exists")}
	w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
		if c.Create == nil {
			return nil
		}
		w.Servers.Put(im, inventory.Instance{Name: r.Name, Type: "replica", DataEngine: "v1", State: "running", UUID: "u-7",
			PortStart: 10070, PortEnd: 10079})
		return exists
	})
	w.run(r)
	require.Equal(t, "u-7", w.replicaIs(r.Name, v1beta2.InstanceStateRunning).Status.UUID)
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)

	refused := &imclient.CallError{Method: "InstanceCreate", Address: "scripted", Kind: imclient.ErrRefused,
		Err: errors.New("no such binary")}
	w.Servers.OnCall(failing(refused, func(c shelltest.Call) bool { return c.Create != nil }))
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateError)
	require.Len(t, w.creations(r.Name), 4)
	w.Servers.OnCall(nil)
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
}

// A real v2 server that cannot ask a replica refuses its engine, lists it as pending from then on, and takes no other engine of that name.
func TestAV2EngineThatWasRefusedDoesNotStayPending(t *testing.T) {
	w := newWorld(t, "pending-1")
	im := manager("pending-1", "v2")
	e := w.engine("vol-e-0", "vol", "pending-1", "v2")
	w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
		if c.Create == nil {
			return nil
		}
		if w.holds(im, e.Name) {
			return &imclient.CallError{Method: "InstanceCreate", Address: "scripted", Kind: imclient.ErrAlreadyExists, Err: errors.New("it exists")}
		}
		w.Servers.Put(im, inventory.Instance{Name: e.Name, Type: v1beta2.InstanceTypeEngine, DataEngine: "v2",
			State: v1beta2.InstanceStatePending})
		return errors.New("failed to get backend vol-r-00000001: not found")
	})
	w.run(e)
	w.engineIs(e.Name, v1beta2.InstanceStateError)
	w.Eventually(func() bool {
		c := conditions.Get(e.Status.Conditions, v1beta2.InstanceCreation)
		return w.Get(e.Name, e) && c != nil && c.Status == v1beta2.ConditionFalse && c.Reason == instance.ReasonRefused &&
			strings.Contains(c.Message, "failed to get backend vol-r-00000001: not found")
	}, "its condition never had the server's text")
	w.Eventually(func() bool { return !w.holds(im, e.Name) }, "the server still lists it")
	require.Len(t, w.creations(e.Name), 3)
	w.Servers.OnCall(nil)
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	w.run(e)
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)
}

// A server has one frontend of a volume, whatever its name. One that the server does not list under the name of the object is in its way.
func TestAFrontendThatExistsUnderAnotherNameIsARefusal(t *testing.T) {
	w := newWorld(t, "exists-1")
	_, _, f := w.openV2("vol", "exists-1")
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	created := len(w.creations(f.Name))
	w.Servers.OnCall(failing(&imclient.CallError{Method: "InstanceCreate", Address: "scripted", Kind: imclient.ErrAlreadyExists,
		Err: errors.New("engine frontend vol-ef-9 already exists for volume vol")}, func(c shelltest.Call) bool { return c.Create != nil }))
	w.run(f)
	f = w.frontendIs(f.Name, v1beta2.InstanceStateError)
	require.Len(t, w.creations(f.Name), created+3)
	w.Eventually(func() bool {
		c := conditions.Get(f.Status.Conditions, v1beta2.InstanceCreation)
		return w.Get(f.Name, f) && c != nil && c.Status == v1beta2.ConditionFalse && c.Reason == instance.ReasonRefused &&
			strings.Contains(c.Message, "engine frontend vol-ef-9 already exists for volume vol")
	}, "its condition never had the server's text")

	w.Servers.OnCall(nil)
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	w.run(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateRunning)
}

// handled is how many keys the executors of this test binary handled.
func handled(t *testing.T) int { return testkit.Reconciles(t, "instance-executor") }

// ATT-1
func TestAnEngineWaitsWhileAnotherOneOfItsVolumeMayBeLive(t *testing.T) {
	w := newWorld(t, "one-1", "one-2")
	w.volume("vol", "v1")
	first, second := w.engine("vol-e-0", "vol", "one-1", "v1"), w.engine("vol-e-1", "vol", "one-2", "v1")
	w.run(first)
	w.engineIs(first.Name, v1beta2.InstanceStateRunning)
	w.run(second)
	w.never(func() bool { return w.holds(manager("one-2", "v1"), second.Name) }, "two engines")
	tried := handled(t)
	w.never(func() bool { return handled(t)-tried > 2 }, "who waits for another engine is not to try again and again")
	w.stop(first)
	w.engineIs(first.Name, v1beta2.InstanceStateStopped)
	w.engineIs(second.Name, v1beta2.InstanceStateRunning)

	// A migration may have two, over processes of their own: the live engine has another process over each directory, in mode RW (K1).
	r, own := w.replica("vol-r-00000001", "vol", "one-1", "v1"), w.replica("vol-r-00000002", "vol", "one-1", "v1")
	w.spec(r, map[string]any{"active": true})
	w.spec(own, map[string]any{"dataDirectoryName": r.Spec.DataDirectoryName})
	w.spec(second, map[string]any{"active": true})
	w.spec(first, map[string]any{"active": false, "desireState": "running",
		"replicaAddressMap": map[string]any{r.Name: nil, own.Name: "10.0.0.9:10020"}})
	volume := &v1beta2.Volume{ObjectMeta: w.meta("vol")}
	w.spec(volume, map[string]any{"migrationNodeID": "one-1"})
	w.never(func() bool { return w.holds(manager("one-1", "v1"), first.Name) }, "a second engine over replicas that no one saw in mode RW")
	require.NoError(t, w.modes(second, map[string]any{r.Name: "RW"}))
	w.engineIs(first.Name, v1beta2.InstanceStateRunning)
}

// A leftover ends with its server: the first list of the next one, which is empty, names nothing that changed.
func TestAnEngineStartsOnceTheServerOfALeftoverOnAnotherNodeWasReplaced(t *testing.T) {
	w := newWorld(t, "left-1", "left-2")
	w.volume("vol", "v1")
	other := manager("left-2", "v1")
	w.Servers.Put(other, inventory.Instance{Name: "vol-e-0", Type: v1beta2.InstanceTypeEngine, UUID: "left",
		DataEngine: "v1", State: v1beta2.InstanceStateRunning})
	beside := w.replica("other-r-00000001", "other", "left-2", "v1")
	w.run(beside)
	w.replicaIs(beside.Name, v1beta2.InstanceStateRunning)
	e := w.engine("vol-e-1", "vol", "left-1", "v1")
	w.run(e)
	w.never(func() bool { return w.holds(manager("left-1", "v1"), e.Name) }, "two engines")
	w.Servers.Shut(other, true)
	w.replicaIs(beside.Name, v1beta2.InstanceStateUnknown)
	w.stop(e)
	w.run(e)
	w.never(func() bool { return w.holds(manager("left-1", "v1"), e.Name) }, "what a lost server had may still run")
	w.Servers.Drop(other, "vol-e-0")
	w.Servers.Shut(other, false)
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)
}

// A process that has just begun knows nothing of a server that does not answer; what its predecessor recorded counts until there is a list.
func TestAnEngineDoesNotStartBesideOneThatOnlyAStatusHas(t *testing.T) {
	w := newWorld(t, "status-1")
	other := manager("status-2", "v1")
	w.Servers.Shut(other, true)
	w.KubernetesNode("status-2", nil)
	silent := &v1beta2.InstanceManager{}
	w.Eventually(func() bool { return w.Get(other, silent) && silent.Status.IP != "" }, "%s never had an address", other)
	running := map[string]any{"spec": map[string]any{"name": "vol-e-0"}, "status": map[string]any{"state": v1beta2.InstanceStateRunning}}
	require.NoError(t, status.MergeStatus(t.Context(), w.Admin, silent,
		map[string]any{"instanceEngines": map[string]any{"vol-e-0": running}}))
	w.volume("vol", "v1")
	e := w.engine("vol-e-1", "vol", "status-1", "v1")
	w.run(e)
	w.never(func() bool { return w.holds(manager("status-1", "v1"), e.Name) }, "what the status has may still run")
	w.Servers.Shut(other, false)
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)
}

// The newest list of this process may be older than a start by another one that leads, or led.
func TestWhatAnotherLeaderStartedIsNotMissing(t *testing.T) {
	w := newWorld(t, "led-1")
	im := manager("led-1", "v1")
	w.volume("vol", "v1")
	e := w.engine("vol-e-0", "vol", "led-1", "v1")
	var tries atomic.Int32
	w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
		if c.Create == nil {
			return nil
		}
		tries.Add(1)
		return &imclient.CallError{Method: "InstanceCreate", Address: "scripted", Kind: imclient.ErrUnreachable, Err: errors.New("no answer")}
	})
	w.run(e)
	w.Eventually(func() bool { return tries.Load() > 1 }, "it is tried again only once the absence is proven")
	w.Servers.PutUnnoticed(im, inventory.Instance{Name: e.Name, Type: "engine", DataEngine: "v1", State: "running", UUID: "u-1",
		PortStart: 10070, PortEnd: 10079})
	require.NoError(t, status.MergeStatus(t.Context(), w.Admin, e, map[string]any{"currentState": v1beta2.InstanceStateRunning,
		"starting": nil, "started": true, "uuid": "u-1", "instanceManagerName": im}))
	others := map[string]bool{}
	w.Eventually(func() bool {
		w.Get(e.Name, e)
		if state := e.Status.CurrentState; state != v1beta2.InstanceStateRunning {
			others[state] = true
		}
		return len(others) > 0 || e.Status.Port == 10070
	}, "the next list is not read")
	require.Empty(t, others, "an old list counts")
}

// A backup of a cluster may be applied in any order. Volumes are not watched.
func TestAnEngineThatWasRestoredBeforeItsVolumeStartsAfterIt(t *testing.T) {
	w := newWorld(t, "early-1")
	e := w.engine("vol-e-0", "vol", "early-1", "v1")
	volume := &v1beta2.Volume{ObjectMeta: w.meta("vol")}
	require.NoError(t, w.Admin.Patch(t.Context(), volume, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	require.NoError(t, w.Admin.Delete(t.Context(), volume))
	w.run(e)
	creation := func() string {
		w.Get(e.Name, e)
		return conditions.Reason(e.Status.Conditions, v1beta2.InstanceCreation)
	}
	w.Eventually(func() bool { return creation() == v1beta2.ReasonVolumeMissing }, "its status shows no reason")
	version := e.ResourceVersion
	w.never(func() bool { return w.holds(manager("early-1", "v1"), e.Name) }, "whether its volume is encrypted is not known")
	require.Equal(t, v1beta2.ReasonVolumeMissing, creation())
	require.Equal(t, version, e.ResourceVersion, "it is written once")
	w.volume("vol", "v1")
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)
	w.Eventually(func() bool { return creation() == v1beta2.ReasonInstanceCreated }, "its status still shows the reason")
}

func TestAnEngineThatMovedEndsAtItsOldPlaceBeforeItStartsAtTheNewOne(t *testing.T) {
	w := newWorld(t, "left-1", "left-2")
	w.volume("vol", "v1")
	e := w.engine("vol-e-0", "vol", "left-2", "v1")
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	w.Servers.Put(manager("left-1", "v1"), inventory.Instance{Name: e.Name, Type: "engine", DataEngine: "v1", State: "running",
		UUID: "old"})
	w.run(e)
	e = w.engineIs(e.Name, v1beta2.InstanceStateRunning)
	require.Equal(t, manager("left-2", "v1"), e.Status.InstanceManagerName)
	require.False(t, w.holds(manager("left-1", "v1"), e.Name))
	require.Equal(t, "old", w.deletions(e.Name)[0].UUID)
}

// The absence rule of a node that is down: stopped is concluded once every reachable replica is stopped, and corrected when the node is
// back.
func TestWhatRanOnANodeThatIsDownIsConcludedStoppedOnceItIsCutOff(t *testing.T) {
	w := newWorld(t, "down-1", "down-2")
	w.volume("vol", "v1")
	there, here := w.replica("vol-r-00000001", "vol", "down-1", "v1"), w.replica("vol-r-00000002", "vol", "down-2", "v1")
	e := w.engine("vol-e-0", "vol", "down-1", "v1")
	for _, o := range []client.Object{there, here, e} {
		w.run(o)
	}
	w.replicaIs(there.Name, v1beta2.InstanceStateRunning)
	w.replicaIs(here.Name, v1beta2.InstanceStateRunning)
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)

	w.goesDown("down-1")
	w.engineIs(e.Name, v1beta2.InstanceStateUnknown)
	w.stop(e)
	w.stop(there)
	w.never(func() bool {
		seen := &v1beta2.Engine{}
		return w.Get(e.Name, seen) && seen.Status.CurrentState == v1beta2.InstanceStateStopped
	}, "concluded although a replica in service runs")
	w.stop(here)
	w.replicaIs(here.Name, v1beta2.InstanceStateStopped)
	e = w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	require.Equal(t, v1beta2.ReasonNodeDown, conditions.Reason(e.Status.Conditions, v1beta2.InstanceNodeDown))
	there = w.replicaIs(there.Name, v1beta2.InstanceStateStopped)
	require.Equal(t, v1beta2.ReasonNodeDown, conditions.Reason(there.Status.Conditions, v1beta2.InstanceNodeDown))
	require.True(t, w.holds(manager("down-1", "v1"), e.Name), "it runs all the same")

	w.comesBack("down-1")
	w.Eventually(func() bool {
		return w.Get(e.Name, e) && w.Get(there.Name, there) && !w.holds(manager("down-1", "v1"), e.Name) &&
			!w.holds(manager("down-1", "v1"), there.Name) &&
			e.Status.CurrentState == v1beta2.InstanceStateStopped && len(e.Status.Conditions) == 0 && len(there.Status.Conditions) == 0
	}, "what ran all the time never ended")
}

func TestATaintOutOfServiceIsAsGoodAsANodeThatIsDown(t *testing.T) {
	w := newWorld(t, "taint-1")
	w.volume("vol", "v1")
	r := w.replica("vol-r-00000001", "vol", "taint-1", "v1")
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	w.Servers.Shut(manager("taint-1", "v1"), true)
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateUnknown)
	var n corev1.Node
	require.NoError(t, w.Admin.Get(t.Context(), client.ObjectKey{Name: "taint-1"}, &n))
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown",
		Effect: corev1.TaintEffectNoExecute})
	require.NoError(t, w.Admin.Update(t.Context(), &n))
	r = w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	require.Equal(t, v1beta2.ReasonOutOfService, conditions.Reason(r.Status.Conditions, v1beta2.InstanceNodeDown))
}

// A creation may take minutes; no one else waits for it.
func TestAHungInstanceManagerHoldsUpOnlyItself(t *testing.T) {
	w := newWorld(t, "hung-1", "hung-2")
	hung := manager("hung-1", "v1")
	release := make(chan struct{})
	var inside atomic.Int32
	w.Servers.OnCall(func(ctx context.Context, c shelltest.Call) error {
		if c.Manager != hung {
			return nil
		}
		inside.Add(1)
		defer inside.Add(-1)
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	w.volume("vol", "v1")
	var stuck []*v1beta2.Replica
	for n := range 20 {
		r := w.replica(fmt.Sprintf("vol-r-%08d", n), "vol", "hung-1", "v1")
		stuck = append(stuck, r)
		w.run(r)
	}
	w.Eventually(func() bool { return inside.Load() == 8 }, "the instance manager's share of calls was never used up")
	other := w.replica("vol-r-10000000", "vol", "hung-2", "v1")
	w.run(other)
	w.replicaIs(other.Name, v1beta2.InstanceStateRunning)
	require.EqualValues(t, 8, inside.Load())
	close(release)
	for _, r := range stuck {
		w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	}
	for _, r := range stuck {
		require.Len(t, w.creations(r.Name), 1)
	}
}

func TestARunningEngineIsLookedAtBeforeItStopsAndAFailedLookHoldsNothingUp(t *testing.T) {
	var mu sync.Mutex
	var polls []string
	w := newWorldWith(t, cut.Point{}, func(o *instancecontroller.Options) {
		o.BeforeEngineStop = func(_ context.Context, e *v1beta2.Engine) error {
			mu.Lock()
			defer mu.Unlock()
			polls = append(polls, e.Name+" "+e.Status.CurrentState)
			return errors.New("it does not answer")
		}
	}, "look-1")
	w.volume("vol", "v1")
	e := w.engine("vol-e-0", "vol", "look-1", "v1")
	w.run(e)
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"vol-e-0 running"}, polls)
}

func TestANameWithADeletingOrphanIsLeftAloneUntilTheFencingDelayEnds(t *testing.T) {
	const fencingDelay = 4 * time.Second
	w := newWorldWith(t, cut.Point{}, func(o *instancecontroller.Options) { o.PostElectionDelay = fencingDelay }, "held-1")
	began := time.Now()
	im := manager("held-1", "v1")
	w.volume("vol", "v1")
	orphan := &v1beta2.Orphan{ObjectMeta: w.meta(v1beta2.OrphanName("vol-r-00000001", "old", im, "v1")), Spec: v1beta2.OrphanSpec{
		NodeID: "held-1", OrphanType: v1beta2.OrphanTypeReplicaInstance, DataEngine: "v1", Parameters: map[string]string{
			"InstanceName": "vol-r-00000001", "InstanceUUID": "old", "InstanceManager": im}}}
	orphan.Finalizers = []string{v1beta2.Finalizer}
	w.create(orphan)
	require.NoError(t, w.Admin.Delete(t.Context(), orphan))
	held, free := w.replica("vol-r-00000001", "vol", "held-1", "v1"), w.replica("vol-r-00000002", "vol", "held-1", "v1")
	w.run(held)
	w.run(free)
	w.replicaIs(free.Name, v1beta2.InstanceStateRunning)
	require.Less(t, time.Since(began), fencingDelay, "the test was too slow to prove anything")
	require.Empty(t, w.creations(held.Name))
	w.replicaIs(held.Name, v1beta2.InstanceStateRunning)
}

// ALL-1
func TestAQuietClusterIsLeftAlone(t *testing.T) {
	w := newWorld(t, "quiet-1")
	w.openV2("vol", "quiet-1")
	w.volume("other", "v1")
	r := w.replica("other-r-00000001", "other", "quiet-1", "v1")
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	settled, calls, since := -1, -1, time.Now()
	w.Eventually(func() bool {
		if writes, called := len(w.Writes()), len(w.Servers.Calls()); writes != settled || called != calls {
			settled, calls, since = writes, called, time.Now()
		}
		return time.Since(since) > time.Second
	}, "the writes and calls never ended")
	w.never(func() bool { return len(w.Writes()) != settled || len(w.Servers.Calls()) != calls }, "a write or a call in a quiet cluster")
}

// A creation is decided on the cache: the write ahead of it must find the object as it was evaluated.
func TestAnObjectThatChangesBeforeItsCreationIsNotStarted(t *testing.T) {
	w := newWorld(t, "changed-1")
	r := w.replica("vol-r-00000001", "vol", "changed-1", "v1")
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	stopped := make(chan error, 1)
	w.BeforeExecutorWrite(func() {
		stopped <- status.MergeSpec(context.Background(), w.Admin, r, map[string]any{"desireState": v1beta2.InstanceStateStopped})
	})
	w.run(r.DeepCopy())
	require.NoError(t, <-stopped)
	w.never(func() bool { return len(w.creations(r.Name)) > 0 }, "it was created although it is to be stopped")
	require.False(t, w.replicaIs(r.Name, v1beta2.InstanceStateStopped).Status.Starting)
	w.run(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
}
