package disk

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
)

// figures fills in what is free and what is promised to replicas, and whether another replica may be placed. A disk that is not ready has
// none.
func (d *one) figures() {
	d.out.StorageMaximum, d.out.StorageAvailable, d.out.StorageScheduled, d.out.ScheduledReplica = 0, 0, 0, map[string]int64{}
	if !d.ready {
		return
	}
	d.out.StorageMaximum, d.out.StorageAvailable = d.answer().TotalBytes, d.answer().FreeBytes
	for _, r := range d.Replicas {
		if r.DiskID == d.out.DiskUUID {
			d.out.ScheduledReplica[r.Name] = r.Bytes
			d.out.StorageScheduled += r.Bytes
		}
	}
	c := v1beta2.Condition{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable,
		Message: fmt.Sprintf("Replicas may be placed on disk %s as far as its space allows.", d.key)}
	if why := d.pressure(); d.out.AcknowledgedAt == "" {
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonContentNotListed
		c.Message = fmt.Sprintf("The replicas that disk %s held when it was first loaded are not listed completely yet; no replica is "+
			"placed on it until then.", d.key)
	} else if why != "" {
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonDiskPressure, why
	}
	d.out.Conditions = conditions.Set(d.out.Conditions, c, d.Now)
}

// pressure is why a disk is too full for another replica, or "".
func (d *one) pressure() string {
	return d.Pressure.Explain(d.key, diskspace.Space{Maximum: d.out.StorageMaximum, Available: d.out.StorageAvailable,
		Scheduled: d.out.StorageScheduled, Reserved: d.spec.StorageReserved})
}

func same(a, b v1beta2.DiskStatus) bool {
	return a.DiskUUID == b.DiskUUID && a.DiskName == b.DiskName && a.DiskPath == b.DiskPath && a.DiskType == b.DiskType &&
		a.DiskDriver == b.DiskDriver && a.InstanceManagerName == b.InstanceManagerName && a.AcknowledgedAt == b.AcknowledgedAt &&
		a.StorageMaximum == b.StorageMaximum && a.StorageAvailable == b.StorageAvailable && a.StorageScheduled == b.StorageScheduled &&
		maps.Equal(a.ScheduledReplica, b.ScheduledReplica) && slices.Equal(a.AcknowledgedReplicas, b.AcknowledgedReplicas) &&
		sameLoad(a.Load, b.Load) && conditions.Equal(a.Conditions, b.Conditions)
}

func sameLoad(a, b *v1beta2.DiskLoad) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
