package ticket

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// conditionScheduled is False on a volume that wants more replicas than can be placed.
const conditionScheduled = v1beta2.VolumeScheduled

// rebuilding attaches a detached volume that lacks healthy replicas, to rebuild them, if that is wanted. It ends as soon as a ticket of
// higher priority wants the volume.
func rebuilding(w World, soFar []wish) []wish {
	if !w.offlineRebuilding() || w.faulted() || !w.degraded() {
		return nil
	}
	mine := v1beta2.TicketPriority(v1beta2.AttacherRebuilding)
	if slices.ContainsFunc(w.others(soFar), func(t v1beta2.AttachmentTicket) bool { return v1beta2.TicketPriority(t.Type) > mine }) {
		return nil
	}
	// A volume whose replicas have no place is not attached in vain.
	if !w.has(v1beta2.AttacherRebuilding, w.Volume.Name) && !(w.detached() && !w.unplaced()) {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherRebuilding, v1beta2.TicketValueAny)}
}

func (w World) offlineRebuilding() bool {
	switch w.Volume.Spec.OfflineRebuilding {
	case "enabled":
		return true
	case "disabled":
		return false
	}
	return w.Settings.OfflineRebuilding
}

// degraded reports whether the volume has fewer healthy replicas than it wants, but at least one to rebuild from.
func (w World) degraded() bool {
	count := 0
	for _, r := range w.Replicas {
		if v1beta2.IsReplicaHealthy(&r) {
			count++
		}
	}
	return count > 0 && count < w.Volume.Spec.NumberOfReplicas
}
