package cluster

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// blockDisk is the type of the disks that a v2 server forgets when it ends.
const blockDisk = "block"

// DiskNotReady names the v2 disk of the node that is not ready, and why; empty if all with a recorded UUID are ready. Only what the named
// instance manager reported counts; an empty name accepts any. Times are not compared: another process's clock set them.
func (n Node) DiskNotReady(manager string) string {
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
		case manager != "" && disk.InstanceManagerName != manager:
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
