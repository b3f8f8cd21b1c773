package ticket

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// salvage restores a faulted volume for tickets that cannot hold it now, such as that of a pod whose node is down: the volume is detached,
// salvaged, and attached once, so that it is known to be healthy when they return. Only the attachment needs a ticket: any ticket that
// could attach it suffices, and then this one is removed at once.
func salvage(w World, soFar []wish) []wish {
	if !w.Settings.AutoSalvage || !w.inDoubt() {
		return nil
	}
	others := w.others(soFar)
	if !slices.ContainsFunc(others, isUsers) || slices.ContainsFunc(others, w.selectable) {
		return nil
	}
	frontend := v1beta2.TicketValueFalse
	if w.Volume.Spec.DisableFrontend {
		frontend = v1beta2.TicketValueTrue
	}
	return []wish{w.ofVolume(v1beta2.AttacherSalvage, frontend)}
}

// inDoubt reports whether the volume is faulted, or was salvaged and not attached since.
func (w World) inDoubt() bool {
	switch w.Volume.Status.Robustness {
	case v1beta2.VolumeRobustnessFaulted:
		return true
	case v1beta2.VolumeRobustnessHealthy, v1beta2.VolumeRobustnessDegraded:
		return false
	}
	return w.has(v1beta2.AttacherSalvage, w.Volume.Name)
}

// isUsers reports whether the ticket is for a user of the volume.
func isUsers(t v1beta2.AttachmentTicket) bool { return v1beta2.IsUserTicket(t.Type) }
