package removalcontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// A server lists no replica of a disk that it has not loaded, and its next list that shows them sends no notice.
func TestDataOnADiskThatIsNotLoadedIsNotSaidToBeGone(t *testing.T) {
	w := newWorld(t, "unloaded-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "unloaded-1", uuid1)
	w.Servers.DropDisk("nvme")
	w.Servers.Drop(manager("unloaded-1"), r.Name)
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionFalse, v1beta2.ReasonDiskNotLoaded)
	w.never(func() bool { return w.end(r) != "" }, "what a list lacks proves nothing while the disk is not loaded")
	var now v1beta2.Replica
	require.True(t, w.Get(r.Name, &now))
	require.Contains(t, conditions.Get(now.Status.Conditions, v1beta2.ReplicaDataRemoved).Message,
		"has not loaded disk nvme of node unloaded-1")
	require.Equal(t, 1, w.events(r, v1beta2.ReasonDiskNotLoaded))

	w.Servers.PutDisk(imclient.Disk{Name: "nvme", UUID: disk, Driver: "aio", TotalBytes: 100 << 30, FreeBytes: 100 << 30})
	w.Servers.Put(manager("unloaded-1"), lvol(r.Name, uuid1, "stopped"))
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonRemoved)
	require.Len(t, w.destroyed(r.Name), 1)
	require.False(t, w.holds("unloaded-1", r.Name))
}

func TestADiskThatTheNodeDoesNotHaveAnyMoreIsNotWaitedFor(t *testing.T) {
	w := newWorld(t, "taken-1")
	v := w.volume("vol")
	r := w.replica("vol-r-00000001", v, "taken-1", "", func(s *v1beta2.ReplicaSpec) { s.DiskID = "99999999-0000-0000-0000-00000000dead" })
	w.delete(v, r)
	w.approve(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r, v1beta2.ConditionTrue, v1beta2.ReasonNothingToRemove)
}
