package machine

import (
	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
)

// remount requests new mounts for users who lose the volume although they still want it: it is taken from their node while their tickets
// are there, as from a node that is down. The pods may live on, and their mounts are dead when the volume comes back. A faulted volume
// requests the same once it can be used again (salvage).
type remount struct{ *draft }

func (r remount) decide() {
	if r.faulted || r.state != v1beta2.VolumeStateDetaching || r.Volume.Status.State != v1beta2.VolumeStateAttached || !r.losesUsers() {
		return
	}
	// The cache may still show the ticket that was removed to detach the volume.
	r.out.Fresh, r.out.FreshAttachment = true, true
	r.requestRemount()
}

// losesUsers reports whether a user's ticket wants the volume on a node where it is attached, with the frontend that it has there.
func (f Facts) losesUsers() bool {
	s := f.Volume.Status
	if f.Attachment == nil || s.FrontendDisabled {
		return false
	}
	for _, t := range f.Attachment.Spec.AttachmentTickets {
		on := t.NodeID != "" && (t.NodeID == s.CurrentNodeID || t.NodeID == s.CurrentMigrationNodeID)
		if on && v1beta2.IsUserTicket(t.Type) && !v1beta2.WantsShare(f.Volume, t.Type) && attach.Matches(t, false) {
			return true
		}
	}
	return false
}

// requestRemount requests new mounts in the pods of the volume, which package podrecovery handles: the old mounts lost their device.
func (d *draft) requestRemount() {
	d.setStatus("remountRequestedAt", d.Volume.Status.RemountRequestedAt, stamp(d.Now))
}
