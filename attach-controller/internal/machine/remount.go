package machine

import (
	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
)

// remount requests new mounts for users who lose the volume although they still want it: the volume leaves their node while their tickets
// exist, for example because the node is down. The pods may live on, and their mounts are dead when the volume comes back. For a faulted
// volume, salvage makes the same request once the volume can be used again.
type remount struct{ *draft }

func (r remount) decide() {
	if r.faulted || r.state != v1beta2.VolumeStateDetaching || r.Volume.Status.State != v1beta2.VolumeStateAttached || !r.losesUsers() {
		return
	}
	// The cache may still show the ticket that was removed to detach the volume.
	r.out.Fresh, r.out.FreshAttachment = true, true
	r.requestRemount()
}

// losesUsers reports whether a user's ticket wants the volume on a node that the volume is attached to, with its present frontend.
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
