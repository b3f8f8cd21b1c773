// Package diskspace decides whether a disk is too full for another replica. im-monitor applies it to v2 disks, disk-controller to v1 disks.
package diskspace

import "fmt"

// Limits are the settings storage-minimal-available-percentage and storage-over-provisioning-percentage.
type Limits struct{ MinimalAvailable, OverProvisioning int64 }

// Space has bytes of a disk: its size, the free and the promised bytes, and the reservation.
type Space struct{ Maximum, Available, Scheduled, Reserved int64 }

// Pressure is the reason why a disk is too full for another replica.
type Pressure int

// The reasons, the first that holds counts.
const (
	None Pressure = iota
	Full
	LittleFree
	MuchPromised
)

// Pressure returns why a disk is too full; None: it is not.
func (l Limits) Pressure(s Space) Pressure {
	switch {
	case s.Maximum <= 0 || s.Available <= 0:
		return Full
	case float64(s.Available) <= float64(s.Maximum)*float64(l.MinimalAvailable)/100:
		return LittleFree
	case float64(s.Scheduled) > float64(s.Maximum-s.Reserved)*float64(l.OverProvisioning)/100:
		return MuchPromised
	}
	return None
}

// Explain returns a sentence about why a disk is too full; "" if it is not.
func (l Limits) Explain(disk string, s Space) string {
	switch l.Pressure(s) {
	case Full:
		return fmt.Sprintf("Disk %s has no space left (%.1f of %.1f GiB are free).", disk, inGiB(s.Available), inGiB(s.Maximum))
	case LittleFree:
		return fmt.Sprintf("Disk %s has %.1f of %.1f GiB free, and the setting storage-minimal-available-percentage keeps %d %% free.", disk,
			inGiB(s.Available), inGiB(s.Maximum), l.MinimalAvailable)
	case MuchPromised:
		return fmt.Sprintf("Disk %s has promised %.1f GiB to replicas, and the setting storage-over-provisioning-percentage allows %d %% of "+
			"%.1f GiB.", disk, inGiB(s.Scheduled), l.OverProvisioning, inGiB(s.Maximum-s.Reserved))
	}
	return ""
}

func inGiB(bytes int64) float64 { return float64(bytes) / (1 << 30) }
