package removalcontroller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

func TestTheDataOfADeletedVolumesReplicaIsRemovedOnceAndProven(t *testing.T) {
	w := newWorld(t, "gone-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "gone-1", uuid1)
	w.delete(v, r)
	w.keeps(r.Name)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Equal(t, []imclient.DeleteRequest{{Name: r.Name, Type: "replica", DataEngine: "v2", UUID: uuid1, DiskUUID: disk,
		CleanupRequired: true}}, w.destroyed(r.Name))
	require.False(t, w.holds("gone-1", r.Name))
}

func TestASurplusReplicaIsRemovedWhileAnotherCopyIsSeen(t *testing.T) {
	w := newWorld(t, "surplus-1", "surplus-2")
	v := w.volume("vol")
	surplus := w.replica("vol-r-00000001", v, "surplus-1", uuid1)
	kept := w.running("vol-r-00000002", v, "surplus-2", uuid2)
	e := w.engine("vol-e-0", v, "surplus-2", map[string]string{kept.Name: "RW"})
	w.delete(surplus)
	w.polled(e, map[string]string{kept.Name: "RW"})
	w.approve(surplus, v1beta2.ReasonHealthyCopyElsewhere)
	w.removed(surplus, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Len(t, w.destroyed(surplus.Name), 1)
	require.True(t, w.holds("surplus-2", kept.Name))
	require.Empty(t, w.destroyed(kept.Name))
}

// The directory of a v1 replica is removed by disk-controller, once it is on record that the instance is gone.
func TestTheInstanceOfADeletedV1ReplicaIsProvenGone(t *testing.T) {
	w := newWorld(t, "v1-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "v1-1", "", func(s *v1beta2.ReplicaSpec) { s.DataEngine = "v1" })
	im := v1beta2.InstanceManagerName("v1-1", image, "v1")
	w.delete(v, r)
	w.silent(r)
	w.Servers.Shut(im, true)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.gone(r, v1beta2.ConditionFalse, v1beta2.ReasonUnreachable)
	w.Servers.Shut(im, false)
	w.gone(r, v1beta2.ConditionTrue, v1beta2.ReasonInstanceGone)
	require.NoError(t, status.MergeSpec(t.Context(), w.Admin, r, map[string]any{"volumeSize": "2147483648"}))
	w.gone(r, v1beta2.ConditionTrue, v1beta2.ReasonInstanceGone)
	require.Empty(t, w.Servers.Calls())
	w.silent(r)
}

func TestAReplicaThatNeverStartedHasNothingToRemove(t *testing.T) {
	w := newWorld(t, "never-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "never-1", "")
	unplaced := w.replica("vol-r-00000002", v, "", "")
	w.delete(v, r, unplaced)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.approve(unplaced, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonNothingToRemove)
	w.removed(unplaced, v1beta2.ConditionTrue, v1beta2.ReasonNothingToRemove)
	require.Empty(t, w.Servers.Calls())
}

func TestTheEndIsWrittenOnceAndQuietFollows(t *testing.T) {
	w := newWorld(t, "quiet-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "quiet-1", uuid1)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	w.approve(r, v1beta2.ReasonHealthyCopyElsewhere)
	w.Servers.Put(manager("quiet-1"), lvol(r.Name, uuid2, "stopped"))
	w.keeps("nothing else")
	require.Len(t, w.RemovalWrites(), 1, "an end is final")
	require.Len(t, w.destroyed(r.Name), 1)
	w.Eventually(func() bool { return w.events(r, v1beta2.ReasonRemoved) == 1 }, "no event")
}

func TestANodeThatDoesNotExistHasNothingInReach(t *testing.T) {
	w := newWorld(t)
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "nowhere-1", "")
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonNodeGone)
}

func TestANodeThatIsDownIsWaitedForAndSaidOnce(t *testing.T) {
	w := newWorld(t, "down-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "down-1", uuid1)
	w.Servers.Shut(manager("down-1"), true)
	w.NodeReady("down-1", corev1.ConditionUnknown)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonUnreachable)
	w.keeps(r.Name)
	require.Equal(t, 1, w.events(r, v1beta2.ReasonUnreachable))
	w.NodeReady("down-1", corev1.ConditionTrue)
	w.Servers.Shut(manager("down-1"), false)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestAnInstanceManagerThatIsSilentIsWaitedFor(t *testing.T) {
	w := newWorld(t, "silent-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "silent-1", uuid1)
	w.delete(v, r)
	w.Servers.Shut(manager("silent-1"), true)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonUnreachable)
	w.Servers.Shut(manager("silent-1"), false)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Len(t, w.destroyed(r.Name), 1)
}

func TestWhatARunningEngineUsesStaysUntilItStops(t *testing.T) {
	w := newWorld(t, "used-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "used-1", uuid1)
	e := w.engine("vol-e-0", v, "used-1", map[string]string{r.Name: "RW"})
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonMappedByEngine)
	w.keeps(r.Name)
	require.NoError(t, status.MergeSpec(t.Context(), w.Admin, e, map[string]any{"desireState": v1beta2.InstanceStateStopped}))
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestAForgottenEngineOfSomeInventoryKeepsTheDataToo(t *testing.T) {
	w := newWorld(t, "forgot-1", "forgot-2")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "forgot-1", uuid1)
	forgotten := inventory.Instance{Name: "vol-e-7", Type: "engine", DataEngine: "v2", State: "running", UUID: uuid2,
		Replicas: map[string]string{r.Name: "10.0.0.1:20001"}}
	w.Servers.Put(manager("forgot-2"), forgotten)
	w.delete(v, r)
	w.Eventually(func() bool { return w.holds("forgot-2", "vol-e-7") }, "no engine")
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonMappedByEngine)
	require.Empty(t, w.destroyed(r.Name))
	w.Servers.Drop(manager("forgot-2"), "vol-e-7")
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestANodeThatMayRunTheVolumesEngineMustAnswer(t *testing.T) {
	w := newWorld(t, "asks-1", "asks-2")
	v := w.volume("vol")
	require.NoError(t, status.MergeStatus(t.Context(), w.Admin, v, map[string]any{"currentNodeID": "asks-2"}))
	r := w.replica("vol-r-00000001", v, "asks-1", uuid1)
	w.Servers.Shut(manager("asks-2"), true)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonUnreachable)
	require.Empty(t, w.destroyed(r.Name))
	w.Servers.Shut(manager("asks-2"), false)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestWhatIsNotThisReplicasIsNotTouched(t *testing.T) {
	w := newWorld(t, "other-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "other-1", "")
	elsewhere := lvol(r.Name, uuid1, "stopped")
	elsewhere.DiskUUID = "99999999-0000-0000-0000-000000000002"
	w.Servers.Put(manager("other-1"), elsewhere)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonUUIDMismatch)
	w.keeps(r.Name)
	w.Servers.Drop(manager("other-1"), r.Name)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonNothingToRemove)
}

func TestAServerThatRefusesIsSaid(t *testing.T) {
	w := newWorld(t, "refuse-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "refuse-1", uuid1)
	w.Servers.OnCall(func(context.Context, shelltest.Call) error {
		return &imclient.CallError{Method: "InstanceDelete", Address: "scripted", Kind: imclient.ErrRefused,
			Err: grpcstatus.Error(codes.FailedPrecondition, "another UUID")}
	})
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonUUIDMismatch)
	w.Servers.OnCall(nil)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestAnApprovalWhosePremiseFellDoesNotCount(t *testing.T) {
	w := newWorld(t, "premise-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "premise-1", uuid1)
	w.delete(r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.keeps(r.Name)
	w.silent(r)
	w.delete(v)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestAnotherVolumeOfTheNameDoesNotKeepTheData(t *testing.T) {
	w := newWorld(t, "namesake-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "namesake-1", uuid1)
	v.Finalizers = nil
	require.NoError(t, w.Admin.Update(t.Context(), v))
	w.delete(v)
	w.volume("vol")
	w.delete(r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
}

func TestANewLeaderLeavesDeletedReplicasAlone(t *testing.T) {
	w := newWorldWith(t, cut.Point{}, removalcontroller.Options{PostElectionDelay: time.Hour}, "leader-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "leader-1", uuid1)
	gone := w.replica("vol-r-00000002", v, "nowhere-2", "")
	w.delete(v, r, gone)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.approve(gone, v1beta2.ReasonVolumeDeleting)
	w.keeps(r.Name)
	w.silent(gone)
}

// Servers of today compare no UUIDs; theirs is read from the head lvol, and once more right before the call.
func TestAServerThatComparesNoUUIDsIsAskedForItAgain(t *testing.T) {
	w := newWorld(t, "head-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "head-1", "")
	head := lvol(r.Name, uuid1, "stopped")
	head.UUIDSource = imclient.UUIDFromHeadLvol
	w.Servers.Put(manager("head-1"), head)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Equal(t, uuid1, w.destroyed(r.Name)[0].UUID)
}
