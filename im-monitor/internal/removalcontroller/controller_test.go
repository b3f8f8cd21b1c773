package removalcontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheDataOfADeletedVolumesReplicaIsRemovedOnceAndProven(t *testing.T) {
	w := newWorld(t, "gone-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "gone-1", uuid1)
	w.delete(v, r)
	w.keeps(r.Name)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Equal(t, []imclient.DeleteRequest{{Name: r.Name, Type: "replica", DataEngine: "v2", UUID: uuid1, DiskUUID: disk, CleanupRequired: true}}, w.destroyed(r.Name))
	require.False(t, w.holds("gone-1", r.Name))
}

func TestASurplusReplicaIsRemovedWhileAnotherCopyIsSeen(t *testing.T) {
	w := newWorld(t, "surplus-1", "surplus-2")
	v := w.volume("vol")
	surplus := w.replica("vol-r-00000001", v, "surplus-1", uuid1)
	kept := w.running("vol-r-00000002", v, "surplus-2", uuid2)
	e := w.engine("vol-e-0", v, "surplus-2", map[string]string{kept.Name: "RW"})
	w.delete(surplus)
	w.looked(e, map[string]string{kept.Name: "RW"})
	w.approve(surplus, v1beta2.ReasonHealthyCopyElsewhere)
	w.removed(surplus, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Len(t, w.destroyed(surplus.Name), 1)
	require.True(t, w.holds("surplus-2", kept.Name))
	require.Empty(t, w.destroyed(kept.Name))
}
