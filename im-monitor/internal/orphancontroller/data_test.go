package orphancontroller_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

const lvol = "vol-9-r-aa"

// withDisk gives node-1 a block disk that is loaded, and on which lies a replica without an object.
func (w *world) withDisk(acknowledged ...string) {
	w.t.Helper()
	n := &v1beta2.Node{ObjectMeta: w.meta("node-1")}
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, n, map[string]any{"disks": map[string]any{
		"disk-1": map[string]any{"diskType": "block", "path": "/dev/a", "allowScheduling": true}}}))
	w.diskStatus(map[string]any{"diskUUID": disk, "diskPath": "/dev/a", "diskType": "block", "diskDriver": "aio", "diskName": "disk-1",
		"acknowledgedAt": "2026-01-01T00:00:00Z", "acknowledgedReplicas": append([]string{"another"}, acknowledged...),
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "DiskReady"}}})
	w.store.mu.Lock()
	w.store.disks = map[string]imclient.Disk{"disk-1": {State: imclient.DiskReady, UUID: disk}}
	w.store.mu.Unlock()
	w.store.put(imV2, onDisk(lvol, "stopped"))
}

func (w *world) diskStatus(fields map[string]any) {
	w.t.Helper()
	w.setStatus(&v1beta2.Node{ObjectMeta: w.meta("node-1")}, map[string]any{"diskStatus": map[string]any{"disk-1": fields}})
}

func onDisk(name, state string) inventory.Instance {
	i := instance(name, "replica", state, uuid1)
	i.DiskUUID = disk
	return i
}

// dataOrphan waits for the Orphan of the data.
func (w *world) dataOrphan() *v1beta2.Orphan {
	w.t.Helper()
	o := &v1beta2.Orphan{ObjectMeta: w.meta(v1beta2.OrphanDataName("node-1", "disk-1", "/dev/a", disk, lvol))}
	w.until(func() bool {
		return w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(o), o) == nil &&
			conditions.IsTrue(o.Status.Conditions, v1beta2.OrphanOrphaned)
	}, "no orphan of the data")
	return o
}

func TestDataWithoutAReplicaGetsAnOrphanAndIsDestroyedOnce(t *testing.T) {
	w := newWorld(t)
	w.withDisk()
	w.start()
	o := w.dataOrphan()
	require.Equal(t, v1beta2.OrphanTypeReplicaData, o.Spec.OrphanType)
	require.Equal(t, map[string]string{"DataName": lvol, "DiskName": "disk-1", "DiskUUID": disk, "DiskPath": "/dev/a", "DiskType": "block"},
		o.Spec.Parameters)
	require.Equal(t, v1beta2.ReasonDataOnly, conditions.Reason(o.Status.Conditions, v1beta2.OrphanOrphaned))
	w.reports(o, v1beta2.OrphanDataCleanable, v1beta2.ConditionTrue, "")
	runtime := w.orphanOf(imV2, lvol, uuid1, "v2")
	require.Empty(t, w.store.destructions())

	w.approve(o)
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Equal(t, []string{"disk-1/" + lvol}, w.store.destructions())
	require.Empty(t, w.store.executed(), "nothing is called for the instance: its orphan ends by itself")
	w.reports(runtime, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonInstanceGone)
}

// Data without a Volume is destroyed for a policy only if a person recorded that it is given up.
func TestPolicyDestroysDataThatAPersonGaveUp(t *testing.T) {
	for _, givenUp := range []bool{true, false} {
		t.Run(fmt.Sprint(givenUp), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.withDisk()
			w.start()
			o := w.dataOrphan()
			w.reports(o, v1beta2.OrphanDataCleanable, v1beta2.ConditionTrue, "")
			if givenUp {
				require.NoError(t, status.MergeMetadata(t.Context(), w.admin, o, map[string]any{"annotations": map[string]any{
					v1beta2.AnnotationGivenUp: o.UID, v1beta2.AnnotationGivenUpBy: "jane 2026-08-01T12:00:00Z"}}))
			}
			w.approve(o, v1beta2.Condition{Type: v1beta2.OrphanDeletionReason, Status: v1beta2.ConditionTrue,
				Reason: v1beta2.ReasonAutoDeletion})
			if givenUp {
				w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
				require.Equal(t, []string{"disk-1/" + lvol}, w.store.destructions())
				return
			}
			w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonLastCopy)
			require.Empty(t, w.store.destructions())
		})
	}
}

// Two orphans may name one lvol. Whoever comes second finds nothing to do.
func TestTheDataIsDestroyedOnceAlthoughBothItsOrphansAreDeleted(t *testing.T) {
	w := newWorld(t)
	w.withDisk()
	w.start()
	data, runtime := w.dataOrphan(), w.orphanOf(imV2, lvol, uuid1, "v2")
	w.approve(data)
	w.approve(runtime)
	w.reports(data, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	w.reports(runtime, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Equal(t, 1, w.store.effective())
}

// Longhorn writes the condition Error of each Orphan of data, and keeps it: no apply of another writer removes it.
func TestAnOrphanOfDataThatLonghornMadeEndsLikeOneOfOurOwn(t *testing.T) {
	w := newWorld(t)
	w.withDisk()
	o := &v1beta2.Orphan{ObjectMeta: w.meta(v1beta2.OrphanDataName("node-1", "disk-1", "/dev/a", disk, lvol)),
		Spec: v1beta2.OrphanSpec{DataEngine: "v2", NodeID: "node-1", OrphanType: v1beta2.OrphanTypeReplicaData,
			Parameters: map[string]string{v1beta2.OrphanParameterDataName: lvol, v1beta2.OrphanParameterDiskName: "disk-1",
				v1beta2.OrphanParameterDiskUUID: disk, v1beta2.OrphanParameterDiskPath: "/dev/a",
				v1beta2.OrphanParameterDiskType: v1beta2.DiskTypeBlock}}}
	o.Finalizers = []string{v1beta2.Finalizer}
	w.create(o)
	before := metav1.Now().UTC().Add(-time.Hour).Format(time.RFC3339)
	o.Status = v1beta2.OrphanStatus{OwnerID: "node-1", Conditions: []v1beta2.Condition{
		{Type: v1beta2.OrphanDataCleanable, Status: v1beta2.ConditionTrue, LastTransitionTime: before},
		{Type: v1beta2.OrphanError, Status: v1beta2.ConditionFalse, LastTransitionTime: before}}}
	require.NoError(t, w.admin.Status().Update(t.Context(), o, client.FieldOwner("longhorn-manager")))
	w.start()
	o = w.dataOrphan()
	w.approve(o)
	o = w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Equal(t, []string{"disk-1/" + lvol}, w.store.destructions())
	require.True(t, conditions.IsFalse(o.Status.Conditions, v1beta2.OrphanError))
}

func TestDataThatCameWithItsDiskSaysSo(t *testing.T) {
	w := newWorld(t)
	w.withDisk(lvol)
	w.start()
	o, runtime := w.dataOrphan(), w.orphanOf(imV2, lvol, uuid1, "v2")
	w.reports(o, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonForeignData)
	w.reports(runtime, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonForeignData)
	w.diskStatus(map[string]any{"acknowledgedAt": nil, "acknowledgedReplicas": nil})
	w.reports(o, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonForeignData)
	w.diskStatus(map[string]any{"acknowledgedAt": "2026-01-01T00:00:00Z"})
	w.reports(o, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonDataOnly)
}

func TestDataThatCannotBeCleanedUpEndsWithoutACall(t *testing.T) {
	for reason, change := range map[string]func(w *world, n *v1beta2.Node){
		v1beta2.ReasonDiskInvalid: func(w *world, _ *v1beta2.Node) {
			w.diskStatus(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "NoDiskInfo"}}})
		},
		v1beta2.ReasonNodeEvicted: func(w *world, n *v1beta2.Node) {
			require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, n, map[string]any{"evictionRequested": true}))
		},
		v1beta2.ReasonDiskEvicted: func(w *world, n *v1beta2.Node) {
			require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, n,
				map[string]any{"disks": map[string]any{"disk-1": map[string]any{"evictionRequested": true}}}))
		},
		v1beta2.ReasonNodeUnavailable: func(w *world, _ *v1beta2.Node) {
			w.node("node-1", v1beta2.ReasonKubernetesNodeNotReady, metav1.ConditionFalse)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.withDisk()
			w.start()
			o := w.dataOrphan()
			change(w, &v1beta2.Node{ObjectMeta: w.meta("node-1")})
			w.reports(o, v1beta2.OrphanDataCleanable, v1beta2.ConditionFalse, reason)
			if reason == v1beta2.ReasonDiskInvalid { // a disk that is not ready may come back: only a deletion ends without it
				w.approve(o)
			}
			w.reports(o, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonNotCleanable)
			w.approve(o)
			require.Never(t, func() bool { return len(w.store.destructions()) > 0 }, 300*time.Millisecond, tick)
		})
	}
}

func TestDataIsNotDestroyedOnceSomethingSpeaksAgainstIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		says   string
		reason string
	}{
		"a Replica claims it": {func(w *world) {
			w.replica(lvol, v1beta2.ReplicaSpec{VolumeName: "vol-9", NodeID: "node-2", DiskID: "another", DesireState: "stopped"},
				map[string]any{"currentState": "stopped"})
		}, v1beta2.OrphanWithdrawn, v1beta2.ReasonClaimed},
		"the disk holds another lvstore": {func(w *world) {
			w.store.mu.Lock()
			defer w.store.mu.Unlock()
			w.store.disks["disk-1"] = imclient.Disk{State: imclient.DiskReady, UUID: "another"}
		}, v1beta2.OrphanCleanupFailed, v1beta2.ReasonRefused},
		"the disk is not loaded": {func(w *world) {
			w.store.mu.Lock()
			defer w.store.mu.Unlock()
			delete(w.store.disks, "disk-1")
		}, v1beta2.OrphanCleanupFailed, v1beta2.ReasonUnreachable},
		"a running engine maps it": {func(w *world) {
			e := &v1beta2.Engine{ObjectMeta: w.meta("vol-9-e-0"),
				Spec: v1beta2.EngineSpec{VolumeName: "vol-9", NodeID: "node-2", DesireState: "running",
					ReplicaAddressMap: map[string]string{lvol: "10.0.0.1:20001"}}}
			e.Labels = map[string]string{v1beta2.LabelVolume: "vol-9"}
			w.create(e)
			w.setStatus(e, runningOn(imOther, "node-2"))
		}, v1beta2.OrphanCleanupFailed, v1beta2.ReasonMappedByEngine},
		"it runs": {func(w *world) { w.store.put(imV2, onDisk(lvol, "running")) }, v1beta2.OrphanInstanceState, "running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.withDisk()
			w.start()
			o := w.dataOrphan()
			c.change(w)
			w.approve(o)
			w.reports(o, c.says, v1beta2.ConditionTrue, c.reason)
			if c.says == v1beta2.OrphanCleanupFailed {
				w.reports(o, v1beta2.OrphanError, v1beta2.ConditionTrue, c.reason)
			}
			require.Empty(t, w.store.destructions())
		})
	}
}

// A v2 instance manager that waits for another one of its node has no pod that could answer.
func TestABlockedInstanceManagerFailsNoDeletionOfData(t *testing.T) {
	w := newWorld(t)
	w.withDisk()
	for _, name := range []string{"im-a-blocked", "im-z-blocked"} {
		im := &v1beta2.InstanceManager{ObjectMeta: w.meta(name), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: "v2"}}
		w.create(im)
		w.setStatus(im, map[string]any{"currentState": v1beta2.InstanceManagerStateStopped})
	}
	w.start()
	o := w.dataOrphan()
	e := &v1beta2.Engine{ObjectMeta: w.meta("vol-9-e-0"), Spec: v1beta2.EngineSpec{VolumeName: "vol-9", NodeID: "node-2",
		DesireState: "running", ReplicaAddressMap: map[string]string{lvol: "10.0.0.1:20001"}}}
	e.Labels = map[string]string{v1beta2.LabelVolume: "vol-9"}
	w.create(e)
	w.setStatus(e, runningOn(imOther, "node-2"))
	w.approve(o)
	w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonMappedByEngine)
	require.Never(t, func() bool {
		now := &v1beta2.Orphan{}
		return w.admin.Get(context.WithoutCancel(t.Context()), client.ObjectKeyFromObject(o), now) == nil &&
			conditions.Reason(now.Status.Conditions, v1beta2.OrphanCleanupFailed) != v1beta2.ReasonMappedByEngine
	}, 4*time.Second, tick, "what another instance manager cannot answer is no failure")
	require.NoError(t, w.admin.Delete(t.Context(), e))
	w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	require.Len(t, w.store.destructions(), 1)
}

// ALL-2: killed before or after each write, and around the call, it ends in the same state and the data is destroyed once.
func TestACrashAnywhereInTheDeletionOfDataConverges(t *testing.T) {
	s := scenario{effective: 1, uuid: uuid1, end: v1beta2.OrphanInstanceState, reason: v1beta2.InstanceStateTerminated,
		begin: func(w *world) { w.withDisk() }, act: func(w *world, o *v1beta2.Orphan) { w.approve(o) }, orphan: (*world).dataOrphan}
	writes := len(s.play(t, cut.Point{}).Writes())
	require.Positive(t, writes)
	for _, point := range cut.Points(writes) {
		t.Run(point.String(), func(t *testing.T) {
			t.Parallel()
			s.play(t, point)
		})
	}
	for _, executed := range []bool{false, true} {
		t.Run(fmt.Sprintf("the call is lost, executed %v", executed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.withDisk()
			crashed := make(chan struct{})
			w.store.onDestroy = func(im, replica string) error {
				w.store.mu.Lock()
				w.store.onDestroy = nil
				w.store.mu.Unlock()
				if executed {
					w.store.remove(im, replica, true)
				}
				close(crashed)
				return imclient.ErrUnreachable
			}
			w.start()
			o := w.dataOrphan()
			w.approve(o)
			<-crashed
			w.stop()
			w.start()
			w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
			require.Len(t, w.store.destructions(), map[bool]int{false: 2, true: 1}[executed])
		})
	}
	t.Logf("%d crash points", 2*writes+2)
}
