package cluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// blockDisk is the type of the disks that a v2 server forgets when it ends.
const blockDisk = "block"

// DiskNotReady names the v2 disk of the node that is not ready, and why; empty if all with a recorded UUID are ready. A load that was
// ready before since belongs to an earlier server; the zero time accepts any.
func (n Node) DiskNotReady(since time.Time) string {
	if n.Object == nil {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(n.Object.Spec.Disks)) {
		disk := n.Object.Status.DiskStatus[key]
		if n.Object.Spec.Disks[key].DiskType != blockDisk || disk.DiskUUID == "" {
			continue
		}
		ready := conditions.Get(disk.Conditions, v1beta2.DiskReady)
		switch {
		case ready == nil || ready.Status != v1beta2.ConditionTrue:
			return fmt.Sprintf("disk %s (%s) is not ready%s", key, disk.DiskUUID, because(ready))
		case disk.Load != nil && disk.Load.State != v1beta2.DiskLoadReady:
			return fmt.Sprintf("disk %s (%s) is being loaded", key, disk.DiskUUID)
		case disk.Load != nil && parse(disk.Load.ReadyAt).Before(since.Truncate(time.Second)):
			return fmt.Sprintf("disk %s (%s) was not loaded by the new instance manager yet", key, disk.DiskUUID)
		}
	}
	return ""
}

func because(c *v1beta2.Condition) string {
	if c == nil || c.Reason == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", c.Reason)
}
