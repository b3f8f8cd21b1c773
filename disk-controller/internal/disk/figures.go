package disk

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
)

// grain is the step to which free space is rounded down: 100 MiB.
const grain = int64(100) << 20

// figures fills in the free and the promised bytes, and whether another replica may be placed.
func (d *decision) figures() {
	d.out.StorageMaximum, d.out.StorageAvailable = d.seen.Maximum, d.seen.Available/grain*grain
	for _, r := range d.Replicas {
		if r.DiskID == d.out.DiskUUID {
			d.out.ScheduledReplica[r.Name] = r.Bytes
			d.out.StorageScheduled += r.Bytes
		}
	}
	for _, i := range d.Images {
		if slices.Contains(i.Disks, d.out.DiskUUID) {
			d.out.ScheduledBackingImage[i.Name] = i.Bytes
			d.out.StorageScheduled += i.Bytes
		}
	}
	d.keepFree()
	c := v1beta2.Condition{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable,
		Message: fmt.Sprintf("Replicas may be placed on disk %s as far as its space allows.", d.key)}
	if why := d.Pressure.Explain(d.key, d.space(d.out.StorageAvailable)); why != "" {
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonDiskPressure, why
	}
	d.out.Conditions = conditions.Set(d.out.Conditions, c, d.Now)
}

// keepFree keeps the recorded free space while the measured one differs little and means the same: a disk in use changes with every
// measurement, and each write reaches every process that watches nodes.
func (d *decision) keepFree() {
	recorded, measured := d.old.StorageAvailable, d.out.StorageAvailable
	if !conditions.IsTrue(d.old.Conditions, v1beta2.DiskReady) || d.old.StorageMaximum != d.out.StorageMaximum {
		return
	}
	step := max(grain, d.out.StorageMaximum/100)
	means := func(available int64) diskspace.Pressure { return d.Pressure.Pressure(d.space(available)) }
	if difference := max(recorded-measured, measured-recorded); difference <= step && means(recorded) == means(measured) {
		d.out.StorageAvailable = recorded
	}
}

// space returns the space of the disk as if so many bytes were free.
func (d *decision) space(available int64) diskspace.Space {
	return diskspace.Space{Maximum: d.out.StorageMaximum, Available: available, Scheduled: d.out.StorageScheduled,
		Reserved: d.spec.StorageReserved}
}

// withoutFigures returns a status with the figures of a disk that is not ready.
func withoutFigures(s v1beta2.DiskStatus) v1beta2.DiskStatus {
	s.StorageMaximum, s.StorageAvailable, s.StorageScheduled = 0, 0, 0
	s.ScheduledReplica, s.ScheduledBackingImage = map[string]int64{}, map[string]int64{}
	return s
}

// same reports whether two statuses are equal in all that is written here.
func same(a, b v1beta2.DiskStatus) bool {
	return a.DiskUUID == b.DiskUUID && a.DiskName == b.DiskName && a.DiskPath == b.DiskPath && a.DiskType == b.DiskType &&
		a.FilesystemType == b.FilesystemType && a.StorageMaximum == b.StorageMaximum && a.StorageAvailable == b.StorageAvailable &&
		a.StorageScheduled == b.StorageScheduled && maps.Equal(a.ScheduledReplica, b.ScheduledReplica) &&
		maps.Equal(a.ScheduledBackingImage, b.ScheduledBackingImage) && conditions.Equal(a.Conditions, b.Conditions)
}
