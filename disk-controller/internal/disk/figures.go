package disk

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
	// grain is what free space is rounded down to.
	grain = 100 * mib
)

// figures fills in what is free and what is promised, and whether another replica may be placed.
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
	if why := d.pressure(d.out.StorageAvailable).text(d); why != "" {
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
	if difference := max(recorded-measured, measured-recorded); difference <= step && d.pressure(recorded) == d.pressure(measured) {
		d.out.StorageAvailable = recorded
	}
}

// pressure is why a disk is too full for another replica.
type pressure int

const (
	none pressure = iota
	full
	littleFree
	muchPromised
)

// pressure returns why the disk would be too full with so many bytes free.
func (d *decision) pressure(available int64) pressure {
	maximum := d.out.StorageMaximum
	switch {
	case maximum <= 0 || available <= 0:
		return full
	case float64(available) <= float64(maximum)*float64(d.Pressure.MinimalAvailable)/100:
		return littleFree
	case float64(d.out.StorageScheduled) > float64(maximum-d.spec.StorageReserved)*float64(d.Pressure.OverProvisioning)/100:
		return muchPromised
	}
	return none
}

// text says why a disk is too full, "" if it is not.
func (p pressure) text(d *decision) string {
	free, maximum := inGiB(d.out.StorageAvailable), inGiB(d.out.StorageMaximum)
	switch p {
	case full:
		return fmt.Sprintf("Disk %s has no space left (%.1f of %.1f GiB are free).", d.key, free, maximum)
	case littleFree:
		return fmt.Sprintf("Disk %s has %.1f of %.1f GiB free, and the setting storage-minimal-available-percentage keeps %d %% free.", d.key,
			free, maximum, d.Pressure.MinimalAvailable)
	case muchPromised:
		return fmt.Sprintf("Disk %s has promised %.1f GiB to replicas, and the setting storage-over-provisioning-percentage allows %d %% of "+
			"%.1f GiB.", d.key, inGiB(d.out.StorageScheduled), d.Pressure.OverProvisioning,
			inGiB(d.out.StorageMaximum-d.spec.StorageReserved))
	}
	return ""
}

func inGiB(bytes int64) float64 { return float64(bytes) / float64(gib) }

// withoutFigures returns a status whose figures are those of a disk that is not ready.
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
