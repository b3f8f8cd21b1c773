package snapshot

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Decide returns the next write, or none. The first that speaks wins: an object that only waits for others' finalizers, a volume that goes
// (its snapshots go without a call), im-monitor's evidence that nothing is left, a person's deletion, and only then what the snapshot needs
// to be taken and kept.
func Decide(w World) Verdict {
	if w.deleting() && !slices.Contains(w.Snapshot.Finalizers, v1beta2.Finalizer) {
		return w.done(Verdict{Step: StepNone})
	}
	if gone, confirm := w.volumeGone(); gone {
		return w.end(EndVolumeGone, confirm)
	}
	if w.isTrue(v1beta2.SnapshotWithdrawn) {
		return w.end(EndWithdrawn, false)
	}
	if w.deleting() {
		return w.remove()
	}
	if w.unrepaired() {
		return Verdict{Step: StepRepair, Reason: "Repaired", Message: "Label, finalizer and owner reference are put right."}
	}
	if w.Volume == nil {
		return w.report(w.mirrored(nil), ready(v1beta2.ReasonVolumeNotFound, "There is no volume "+w.Snapshot.Spec.Volume+
			"; create it, or delete this Snapshot."), nil)
	}
	return w.keep()
}

// volumeGone reports whether the volume whose snapshot this is does not exist, or is going; a volume of the same name is not
// the same. What the cache does not have must be confirmed.
func (w World) volumeGone() (gone, confirm bool) {
	owner := UID(w.Snapshot)
	switch {
	case w.Volume == nil:
		return owner != "", true
	case owner != "" && owner != w.Volume.UID:
		return true, true
	case owner == "" && w.outlived():
		return true, true
	}
	gone = w.Volume.DeletionTimestamp != nil
	return gone, gone && owner == "" // it may be of a volume that was made since
}

// outlived reports whether a Snapshot that names no owner is of an earlier volume: it is older than this one, and it is not
// merely waiting for a volume to come.
func (w World) outlived() bool {
	s := w.Snapshot
	waits := s.Spec.CreateSnapshot && s.Status.RequestedTime == "" && !w.seen()
	return !waits && s.CreationTimestamp.Before(&w.Volume.CreationTimestamp)
}

// unrepaired reports whether the label, the finalizer or the owner reference is missing.
func (w World) unrepaired() bool {
	_, lacking := Complete(w.Snapshot, w.Volume)
	return lacking
}

// end ends the object without any call: it deletes the object unless it is being deleted already, then removes the ticket, then the
// finalizer.
func (w World) end(why End, confirm bool) Verdict {
	v := Verdict{End: why, Confirm: confirm, Reason: string(why), Message: endMessage(w, why)}
	switch {
	case !w.deleting():
		v.Step = StepDelete
	case w.ticket() != nil:
		v.Step = StepDropTicket
	default:
		v.Step = StepDropFinalizer
	}
	return v
}

func endMessage(w World, why End) string {
	switch why {
	case EndVolumeGone:
		return "Volume " + w.Snapshot.Spec.Volume + " of this snapshot is gone, or is being deleted; its snapshots go with it."
	case EndWithdrawn:
		return "The engine has no such snapshot any more."
	case EndNeverTaken:
		return "It was deleted before it was taken."
	case EndRemoved:
		return "Its data is gone."
	}
	return ""
}

// done drops a ticket that nothing needs any more.
func (w World) done(v Verdict) Verdict {
	if v.Step == StepNone && w.ticket() != nil {
		v.Step = StepDropTicket
	}
	return v
}
