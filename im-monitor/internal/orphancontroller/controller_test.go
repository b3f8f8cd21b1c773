package orphancontroller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// O1, O9.
func TestAnInstanceWithoutObjectBecomesAnOrphanAndIsDeletedOnce(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()

	o := w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	require.Equal(t, v1beta2.ReasonNoOwnerCR, conditions.Reason(o.Status.Conditions, v1beta2.OrphanOrphaned))
	require.Equal(t, "running", conditions.Reason(o.Status.Conditions, v1beta2.OrphanInstanceState))
	require.Equal(t, "node-1", o.Status.OwnerID)
	require.Equal(t, []string{v1beta2.Finalizer}, o.Finalizers)
	require.Empty(t, o.OwnerReferences)
	require.Equal(t, "engine-instance", o.Labels[v1beta2.LabelOrphanType])

	w.approve(o)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Equal(t, []imclient.DeleteRequest{{Name: "vol-1-e-0", Type: "engine", DataEngine: "v1", UUID: uuid1, CleanupRequired: true}},
		w.store.executed())
	require.Len(t, w.orphans(), 1, "im-monitor never drops the finalizer")
}

// stoppedReplicaThatRuns is v2 replica vol-1-r-aa, which is to be stopped, is so by its object, and runs.
func (w *world) stoppedReplicaThatRuns() {
	w.replica("vol-1-r-aa", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DiskID: disk, DesireState: "stopped"},
		map[string]any{"currentState": "stopped"})
	i := instance("vol-1-r-aa", "replica", "running", uuid1)
	i.DiskUUID = disk
	w.store.put(imV2, i)
}

// O6, ORP-2.
func TestAClaimedReplicaLosesItsRuntimeAndKeepsItsData(t *testing.T) {
	w := newWorld(t)
	w.stoppedReplicaThatRuns()
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
	require.Equal(t, v1beta2.ReasonStoppedButPresent, conditions.Reason(o.Status.Conditions, v1beta2.OrphanOrphaned))
	w.approve(o)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	calls := w.store.executed()
	require.Len(t, calls, 1)
	require.False(t, calls[0].CleanupRequired)
	require.Equal(t, disk, calls[0].DiskUUID)
	snapshot, _ := w.store.Latest(imV2)
	require.Equal(t, "stopped", snapshot.Instances.At("vol-1-r-aa").State)
}

// A deletion timestamp is of the API server's clock, a list of our own: the two are not compared.
func TestARuntimeIsReportedAsEndedAlthoughOurClockIsBehindTheAPIServers(t *testing.T) {
	w := newWorldAt(t, shifted{by: -time.Hour})
	w.stoppedReplicaThatRuns()
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
	w.approve(o)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Len(t, w.store.executed(), 1)
}

// O10, ORP-1: the cache may report what it likes.
func TestAClaimThatOnlyTheAPIServerKnowsStopsTheCall(t *testing.T) {
	w := newWorld(t)
	r := w.replica("vol-1-r-aa", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-2", DesireState: "running"},
		runningOn(imOther, "node-2"))
	w.store.put(imV2, instance("vol-1-r-aa", "replica", "running", uuid1))
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")

	back := func() {
		r.Spec.NodeID = "node-1"
		w.setStatus(r, runningOn(imV2, "node-1"))
		require.NoError(t, w.admin.Patch(t.Context(), r, mergeNode("node-1")))
	}
	w.store.mu.Lock()
	w.store.onFresh = onceFunc(back)
	w.store.mu.Unlock()
	w.approve(o)
	w.reports(o, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonClaimed)
	require.Empty(t, w.store.executed())
}

// ORP-1, O16: the address of a pod that ended may lead to another instance manager's server.
func TestAnInstanceThatTwoManagersListIsNotTakenForTwo(t *testing.T) {
	w := newWorld(t)
	w.replica("vol-1-r-aa", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-2", DesireState: "running"},
		runningOn(imOther, "node-2"))
	w.store.put(imV2, instance("vol-1-r-aa", "replica", "running", uuid1))
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
	w.store.put(imOther, instance("vol-1-r-aa", "replica", "running", uuid1))
	w.approve(o)
	w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonUnreachable)
	require.Empty(t, w.store.executed())
	w.store.remove(imV2, "vol-1-r-aa", true)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Empty(t, w.store.executed())
}

// O8, ORP-3.
func TestANewInstanceOfTheNameIsNeverTouched(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	o := w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	w.store.mu.Lock()
	w.store.onFresh = onceFunc(func() { w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid2)) })
	w.store.mu.Unlock()
	w.approve(o)
	w.reports(o, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonUUIDMismatch)
	require.Empty(t, w.store.executed())
	w.orphanOf(imV1, "vol-1-e-0", uuid2, "v1")
}

// O7.
func TestAnInstanceWithoutUUIDIsSaidOnceAndJudgedWhenItHasOne(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV2, instance("vol-1-e-0", "engine", "running", ""))
	w.start()
	w.until(func() bool { return w.recorder.reasons.count(v1beta2.ReasonNoUUID) == 1 }, "no event")
	w.store.put(imV2, instance("vol-1-e-0", "engine", "error", ""))
	w.store.put(imV2, instance("vol-1-e-0", "engine", "running", uuid1))
	w.orphanOf(imV2, "vol-1-e-0", uuid1, "v2")
	require.Equal(t, 1, w.recorder.reasons.count(v1beta2.ReasonNoUUID), "a transition is reported once")
}

// O16: unknown is not empty.
func TestOnlyProvenAbsenceWithdraws(t *testing.T) {
	w := newWorld(t)
	w.store.provenByHand = true
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	o := w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	w.store.reachable(imV1, nil)
	w.store.reachable(imV1, map[string]inventory.Instance{})
	require.Never(t, func() bool {
		return conditions.IsTrue(w.orphans()[0].Status.Conditions, v1beta2.OrphanWithdrawn)
	}, 300*time.Millisecond, tick)
	w.store.prove(imV1, "vol-1-e-0")
	w.reports(o, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonInstanceGone)
}

// O11.
func TestAnUnreachableManagerIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	o := w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	w.store.mu.Lock()
	w.store.onDelete = func(imclient.DeleteRequest) error { return imclient.ErrUnreachable }
	w.store.mu.Unlock()
	w.approve(o)
	w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonUnreachable)
	w.store.mu.Lock()
	w.store.onDelete = nil
	w.store.mu.Unlock()
	done := w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Nil(t, conditions.Get(done.Status.Conditions, v1beta2.OrphanCleanupFailed))
}

// A try that brings nothing is not made again and again: evaluator and executor enqueue each other.
func TestHandsThatMayOnlyObserveDoNotSpin(t *testing.T) {
	w := newWorld(t)
	w.observe = true
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	o := w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	w.approve(o)
	require.Never(t, func() bool {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		return w.store.lists > 5
	}, time.Second, tick)
	require.Empty(t, w.store.executed())
}

// O20.
func TestAMappedReplicaStaysUntilItsEngineEnds(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV2, instance("vol-1-r-aa", "replica", "stopped", uuid1))
	forgotten := instance("vol-1-e-7", "engine", "running", uuid2)
	forgotten.Replicas = map[string]string{"vol-1-r-aa": "10.0.0.1:20001"}
	w.store.put(imOther, forgotten)
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
	require.Equal(t, v1beta2.ReasonForeignData, conditions.Reason(o.Status.Conditions, v1beta2.OrphanOrphaned), "its disk is not recorded")
	w.approve(o)
	w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonMappedByEngine)
	require.Empty(t, w.store.executed())
	w.store.remove(imOther, "vol-1-e-7", true)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.True(t, w.store.executed()[0].CleanupRequired)
}

func TestTheLastCopyIsKeptFromAPolicyAlsoAfterItsApproval(t *testing.T) {
	w := newWorld(t)
	w.create(&v1beta2.Volume{ObjectMeta: w.meta("vol-1")})
	w.store.put(imV2, instance("vol-1-r-aa", "replica", "stopped", uuid1))
	w.start()
	o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
	w.approve(o, v1beta2.Condition{Type: v1beta2.OrphanDeletionReason, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonAutoDeletion})
	w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonLastCopy)
	require.Empty(t, w.store.executed())
}

func TestANewLeaderLeavesDeletingOrphansAloneAtFirst(t *testing.T) {
	w := newWorld(t)
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.fencingDelay = 3 * time.Second
	began := time.Now()
	w.start()
	o := w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	w.approve(o)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Greater(t, time.Since(began), w.fencingDelay)
	require.Len(t, w.store.executed(), 1)
}

// O2 and 6.7: the events of objects and nodes enqueue exactly what they concern.
func TestObjectsAndNodesWakeTheJudge(t *testing.T) {
	w := newWorld(t)
	r := w.replica("vol-1-r-aa", v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "running"},
		runningOn(imV1, "node-1"))
	w.node("node-1", v1beta2.ReasonKubernetesNodeNotReady, metav1.ConditionFalse)
	w.store.put(imV1, instance("vol-1-r-aa", "replica", "running", uuid1))
	w.start()
	require.NoError(t, w.admin.Delete(t.Context(), r))
	require.Never(t, func() bool { return len(w.orphans()) > 0 }, 300*time.Millisecond, tick, "no orphan is made for a node that is down")
	w.node("node-1", v1beta2.ReasonNodeReady, metav1.ConditionTrue)
	w.orphanOf(imV1, "vol-1-r-aa", uuid1, "v1")
}

// O15.
func TestAnOldNameIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.create(&v1beta2.Orphan{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: v1beta2.LegacyOrphanName("vol-1-e-0", imV1, "v1"),
			Finalizers: []string{v1beta2.Finalizer}},
		Spec: v1beta2.OrphanSpec{OrphanType: "engine-instance", NodeID: "node-1", DataEngine: "v1",
			// Objects from before the rule on parameters lack the UUID, too; the API server takes no new one of them.
			Parameters: map[string]string{"InstanceName": "vol-1-e-0", "InstanceUUID": uuid1, "InstanceManager": imV1}},
	})
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	old := w.orphans()[0]
	w.reports(&old, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonRenamed)
	w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
	require.Empty(t, w.store.executed())
}

func TestTheSecondLookStopsAnOrphanThatOnlyTheCacheSaw(t *testing.T) {
	w := newWorld(t)
	w.store.onFresh = onceFunc(func() { w.store.remove(imV1, "vol-1-e-0", false) })
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	w.until(func() bool { return w.recorder.reasons.count(v1beta2.ReasonSecondLookDisagrees) == 1 }, "no event")
	require.Empty(t, w.orphans())
}

// O16: a server that answers late does not make the evaluation forget the orphan, although nothing changes any more.
func TestASecondLookThatCameTooLateIsTakenAgain(t *testing.T) {
	w := newWorld(t)
	w.store.slow = 1
	w.store.put(imV1, instance("vol-1-e-0", "engine", "running", uuid1))
	w.start()
	w.orphanOf(imV1, "vol-1-e-0", uuid1, "v1")
}

// A server may report anything: a name that no object can have is an orphan like others, not an error for ever.
func TestANameThatNoObjectCanHaveIsJudgedAndDeleted(t *testing.T) {
	w := newWorld(t)
	const name = "-vol 1/../Ä-e-0"
	w.store.put(imV1, instance(name, "engine", "running", uuid1))
	w.start()
	o := w.orphanOf(imV1, name, uuid1, "v1")
	w.approve(o)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Equal(t, name, w.store.executed()[0].Name)
}
