package removalcontroller

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestTheDirectoryOfADeletedReplicaIsRemovedOnceAndNoOther(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r, other := e.replica(v, "vol-r-1"), e.replica(v, "vol-r-2")
	p := e.start(cut.Point{})
	e.delete(v, r)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.gone(r)
	c := e.await(r, v1beta2.ReasonRemoved)
	require.Equal(t, v1beta2.ConditionTrue, c.Status)
	require.Equal(t, []string{other.Spec.DataDirectoryName}, e.names())
	require.Len(t, p.Client.Writes(), 2, "%v", p.Client.Writes())
	require.Eventually(t, func() bool { return e.events(r, v1beta2.ReasonRemoved) == 1 }, time.Minute, testkit.Poll)
	e.whole(other.Spec.DataDirectoryName)
}

// Each condition alone, and both for an earlier spec, remove nothing.
func TestNothingIsRemovedBeforeItIsApprovedAndTheInstanceIsGone(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	approved, gone, stale := e.replica(v, "vol-r-1"), e.replica(v, "vol-r-2"), e.replica(v, "vol-r-3")
	running, alive := e.replica(v, "vol-r-4"), e.replica(v, "vol-r-5")
	last := e.replica(v, "vol-r-6")
	e.delete(v, approved, gone, stale, running, last)
	e.approve(approved, v1beta2.ReasonVolumeDeleting)
	e.gone(gone)
	e.withdraw(gone)
	e.gone(stale)
	require.NoError(t, status.MergeSpec(t.Context(), e.admin, stale, map[string]any{"volumeSize": "2147483648"}))
	e.approve(stale, v1beta2.ReasonVolumeDeleting)
	e.gone(running)
	e.approve(running, v1beta2.ReasonVolumeDeleting)
	e.status(running, map[string]any{"starting": true})
	e.gone(alive)
	e.approve(alive, v1beta2.ReasonVolumeDeleting)
	e.approve(last, v1beta2.ReasonVolumeDeleting)
	e.gone(last)
	e.start(cut.Point{})
	e.await(last, v1beta2.ReasonRemoved)
	for _, r := range []*v1beta2.Replica{approved, gone, stale, running, alive} {
		e.whole(r.Spec.DataDirectoryName)
	}
}

// The approval names a copy that is not there any more: attach-controller learns of that and withdraws it.
func TestAnApprovalWhosePremiseDoesNotHoldRemovesNothing(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r := e.replica(v, "vol-r-1")
	e.node("node-2", "bbbb2222-0000-4000-8000-000000000002")
	other := e.replica(v, "vol-r-2", func(r *v1beta2.Replica) {
		r.Spec.NodeID, r.Spec.DiskID, r.Spec.HealthyAt = "node-2", "bbbb2222-0000-4000-8000-000000000002", "2026-01-01T00:00:00Z"
	})
	engine := &v1beta2.Engine{ObjectMeta: e.meta("vol-e-0"), Spec: v1beta2.EngineSpec{VolumeName: "vol", NodeID: "node-2", DataEngine: "v1"}}
	require.NoError(t, e.admin.Create(t.Context(), engine))
	e.delete(r)
	e.approve(r, v1beta2.ReasonHealthyCopyElsewhere)
	e.gone(r)
	e.start(cut.Point{})
	e.keeps(r)
	e.status(engine, map[string]any{"currentState": "running", "replicaModeMap": map[string]any{other.Name: "RW"}})
	e.await(r, v1beta2.ReasonRemoved)

	dying := e.replica(v, "vol-r-3")
	e.delete(dying)
	e.approve(dying, v1beta2.ReasonVolumeDeleting) // and the volume is not
	e.gone(dying)
	e.keeps(dying)
}

// During a live migration two Replicas name one directory. It goes with the last of them.
func TestADirectoryThatAnotherReplicaNamesStaysUntilThatIsGone(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r := e.replica(v, "vol-r-1")
	second := e.replica(v, "vol-r-2", func(s *v1beta2.Replica) { s.Spec.DataDirectoryName, s.Spec.Active = r.Spec.DataDirectoryName, false })
	e.period = time.Minute
	e.start(cut.Point{})
	e.delete(v, r, second)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.gone(r)
	require.Contains(t, e.await(r, v1beta2.ReasonDirectoryClaimed).Message, "Replica vol-r-2")
	e.whole(r.Spec.DataDirectoryName)
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(second), second))
	require.NoError(t, status.DropFinalizer(t.Context(), e.admin, second, v1beta2.Finalizer))
	e.await(r, v1beta2.ReasonRemoved)
	require.Empty(t, e.names())
}

func TestADirectoryThatAnOrphanOrAnInstanceHasStays(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r, listed := e.replica(v, "vol-r-1"), e.replica(v, "vol-r-2")
	named := map[string]string{"DataName": r.Spec.DataDirectoryName, "DiskName": "data", "DiskUUID": diskUUID, "DiskPath": path,
		"DiskType": "filesystem"}
	orphan := &v1beta2.Orphan{ObjectMeta: e.meta("orphan-1"), Spec: v1beta2.OrphanSpec{NodeID: "node-1", OrphanType: "replica",
		Parameters: named}}
	require.NoError(t, e.admin.Create(t.Context(), orphan))
	im := &v1beta2.InstanceManager{ObjectMeta: e.meta("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: "v1"}}
	require.NoError(t, e.admin.Create(t.Context(), im))
	e.status(im, map[string]any{"currentState": "running", "instanceReplicas": map[string]any{listed.Name: map[string]any{
		"spec": map[string]any{"name": listed.Name}, "status": map[string]any{"state": "running"}}}})
	e.delete(v, r, listed)
	for _, one := range []*v1beta2.Replica{r, listed} {
		e.approve(one, v1beta2.ReasonVolumeDeleting)
		e.gone(one)
	}
	e.start(cut.Point{})
	require.Contains(t, e.await(r, v1beta2.ReasonDirectoryClaimed).Message, "Orphan orphan-1")
	require.Contains(t, e.await(listed, v1beta2.ReasonDirectoryClaimed).Message, "im-1 lists instance vol-r-2")
	e.keeps(r)
	e.delete(orphan)
	e.await(r, v1beta2.ReasonRemoved)
	e.whole(listed.Spec.DataDirectoryName)
	e.status(im, map[string]any{"currentState": "unknown", "instanceReplicas": map[string]any{listed.Name: nil}})
	e.keeps(listed)
	e.status(im, map[string]any{"currentState": "stopped"})
	e.await(listed, v1beta2.ReasonRemoved)
}

// A disk that is not ready, was exchanged without notice, or left its node.
func TestADiskThatIsNotTheRecordedOneLosesNothing(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r := e.replica(v, "vol-r-1")
	n := &v1beta2.Node{ObjectMeta: e.meta("node-1")}
	e.disk(n, diskUUID, v1beta2.ConditionFalse)
	e.delete(v, r)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.gone(r)
	e.start(cut.Point{})
	e.await(r, v1beta2.ReasonDiskNotReady)
	e.whole(r.Spec.DataDirectoryName)
	config := []byte(`{"diskUUID":"bbbb2222-0000-4000-8000-000000000002"}`)
	require.NoError(t, os.WriteFile(e.in(directory.ConfigName), config, 0o600))
	e.disk(n, diskUUID, v1beta2.ConditionTrue)
	require.Contains(t, e.await(r, v1beta2.ReasonDirectoryFailed).Message, "it is not the recorded disk")
	e.whole(r.Spec.DataDirectoryName)
	require.NoError(t, status.MergeSpec(t.Context(), e.admin, n, map[string]any{"disks": map[string]any{"data": nil}}))
	require.Equal(t, v1beta2.ConditionTrue, e.await(r, v1beta2.ReasonDiskGone).Status)
	e.whole(r.Spec.DataDirectoryName)
}

// Longhorn drops such a Replica and keeps its data.
func TestANameThatIsNoDirectoryRemovesNothing(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	kept := e.replica(v, "vol-r-0")
	var all []*v1beta2.Replica
	for i, name := range []string{"../replicas/" + kept.Spec.DataDirectoryName, "..", "nohyphen", "a-b/c-d"} {
		all = append(all, e.replica(v, fmt.Sprintf("vol-r-%d", i+1), func(r *v1beta2.Replica) { r.Spec.DataDirectoryName = name }))
	}
	e.delete(v)
	for _, r := range all {
		e.delete(r)
		e.approve(r, v1beta2.ReasonVolumeDeleting)
		e.gone(r)
	}
	e.start(cut.Point{})
	for _, r := range all {
		e.await(r, v1beta2.ReasonNothingToRemove)
	}
	e.whole(kept.Spec.DataDirectoryName)
}

func TestADirectoryThatDoesNotExistIsReported(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r := e.replica(v, "vol-r-1")
	require.NoError(t, os.RemoveAll(e.in("replicas/"+r.Spec.DataDirectoryName)))
	e.delete(v, r)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.gone(r)
	e.start(cut.Point{})
	e.await(r, v1beta2.ReasonNothingToRemove)
}

// A Replica that changed after it was read keeps its directory: the removal is written to the version that was read.
func TestAReplicaThatChangesWhileItIsDecidedOnKeepsItsDirectory(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	r := e.replica(v, "vol-r-1")
	p := e.start(cut.Point{})
	decided := make(chan int, 1)
	p.Client.BeforeNext(func() {
		e.withdraw(r)
		decided <- testkit.Reconciles(t, "replica-directory")
	})
	e.delete(v, r)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.gone(r)
	before := <-decided
	require.Eventually(t, func() bool { return testkit.Reconciles(t, "replica-directory") > before }, time.Minute, testkit.Poll)
	e.whole(r.Spec.DataDirectoryName)
	e.approve(r, v1beta2.ReasonVolumeDeleting)
	e.await(r, v1beta2.ReasonRemoved)
}

// A stolen token of one node's pod reaches v1 replicas of that node only, and of them one condition.
func TestATokenReportsDirectoriesOfItsOwnNodeOnly(t *testing.T) {
	e := newEnv(t)
	v := e.volume("vol")
	own := e.replica(v, "vol-r-1")
	other := e.replica(v, "vol-r-2", func(r *v1beta2.Replica) { r.Spec.NodeID = "node-2" })
	v2 := e.replica(v, "vol-r-3", func(r *v1beta2.Replica) { r.Spec.DataEngine = "v2" })
	thief, unbound := testkit.Client(t, e.identity), testkit.Client(t, testkit.BinaryIdentity(t, e.namespace, "disk-controller"))
	removed := v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonRemoved}
	write := func(c client.Client, r *v1beta2.Replica, list ...v1beta2.Condition) error {
		return status.Apply(t.Context(), c, r, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)})
	}
	require.Eventually(t, func() bool { return write(thief, other, removed) != nil }, time.Minute, testkit.Poll, "the policy is in force")
	require.ErrorContains(t, write(thief, other, removed), `for v1 replicas of node "node-1"`)
	require.ErrorContains(t, write(thief, v2, removed), `for v1 replicas of node "node-1"`)
	require.ErrorContains(t, write(unbound, own, removed), `for v1 replicas of node ""`)
	require.NoError(t, write(thief, own, removed))
	for _, kind := range []string{v1beta2.ReplicaDataRemovalApproved, v1beta2.ReplicaInstanceGone} {
		require.ErrorContains(t, write(thief, own, removed, v1beta2.Condition{Type: kind, Status: v1beta2.ConditionTrue}),
			"changes only the condition DataRemoved")
	}
	require.ErrorContains(t, status.MergeStatus(t.Context(), thief, own, map[string]any{"currentState": "stopped", "uuid": "x"}),
		"changes only the condition DataRemoved")
	require.Error(t, status.DropFinalizer(t.Context(), thief, own, v1beta2.Finalizer))
}
