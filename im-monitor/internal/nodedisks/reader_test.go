package nodedisks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

// A list of instances proves that a replica is gone only if every device that may hold it is loaded: a device counts as another disk only
// with the UUID of an lvstore.
func TestADeviceWithTheStatusOfAV1DiskIsNotRecorded(t *testing.T) {
	n := &v1beta2.Node{}
	device := v1beta2.DiskSpec{Path: "/dev/sdb", DiskType: v1beta2.DiskTypeBlock}
	n.Spec.Disks = map[string]v1beta2.DiskSpec{"a": device, "b": device, "c": {Path: "/data"}}
	n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"a": {DiskType: v1beta2.DiskTypeBlock, DiskUUID: "uuid-a", DiskDriver: "aio"},
		"b": {DiskType: v1beta2.DiskTypeFilesystem, DiskUUID: "uuid-b"}, "c": {DiskType: v1beta2.DiskTypeFilesystem, DiskUUID: "uuid-c"}}
	require.Equal(t, []inventory.NodeDisk{{Name: "a", Path: "/dev/sdb", Driver: "aio", UUID: "uuid-a"}, {Name: "b", Path: "/dev/sdb"}}, Of(n))
}
