package node

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Disks sums up for people what the Node's status reports of the block disks in its spec: how many are ready of how many ("2/3"), and
// what of them is free of what they have ("120Gi/500Gi", whole GiB). Both are empty where the node has none. Of v1 disks no one here
// writes a status.
func Disks(n *v1beta2.Node) (ready, storage string) {
	const gib = 1 << 30
	of, count, available, maximum := 0, 0, int64(0), int64(0)
	for key, disk := range n.Spec.Disks {
		if disk.DiskType != v1beta2.DiskTypeBlock {
			continue
		}
		of++
		d := n.Status.DiskStatus[key]
		if conditions.IsTrue(d.Conditions, v1beta2.DiskReady) {
			count, available, maximum = count+1, available+d.StorageAvailable, maximum+d.StorageMaximum
		}
	}
	if of == 0 {
		return "", ""
	}
	return fmt.Sprintf("%d/%d", count, of), fmt.Sprintf("%dGi/%dGi", available/gib, maximum/gib)
}
