package node

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Disks sums up for people what the Node's status says of the disks in its spec: how many are ready of how many ("2/3"), and what of them is
// free of what they have ("120Gi/500Gi", whole GiB). Both are empty where the node has none.
func Disks(n *v1beta2.Node) (ready, storage string) {
	const gib = 1 << 30
	if len(n.Spec.Disks) == 0 {
		return "", ""
	}
	count, available, maximum := 0, int64(0), int64(0)
	for key := range n.Spec.Disks {
		d := n.Status.DiskStatus[key]
		if conditions.IsTrue(d.Conditions, v1beta2.DiskReady) {
			count, available, maximum = count+1, available+d.StorageAvailable, maximum+d.StorageMaximum
		}
	}
	return fmt.Sprintf("%d/%d", count, len(n.Spec.Disks)), fmt.Sprintf("%dGi/%dGi", available/gib, maximum/gib)
}
