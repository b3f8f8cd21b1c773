package node

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Disks sums up for people what the Node's status reports of the disks in its spec: how many are ready of how many ("2/3"), and what of
// them is free of what they have ("120Gi/500Gi", whole GiB). Both are empty if the node has none. A v1 disk counts with what
// longhorn-manager reported last: no controller of Drover measures it.
func Disks(n *v1beta2.Node) (ready, storage string) {
	const gib = 1 << 30
	of, count, available, maximum := 0, 0, int64(0), int64(0)
	for key := range n.Spec.Disks {
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
