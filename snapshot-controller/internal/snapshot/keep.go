package snapshot

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/snapshotlimit"
)

// keep decides about a Snapshot that is not being deleted: the engine's facts are copied, a missing snapshot is taken.
func (w World) keep() Verdict {
	if info := w.info(); info != nil {
		status := w.mirrored(info)
		if info.Removed {
			return w.report(status, ready(v1beta2.ReasonMarkedRemoved, "The engine has marked it removed; it ends with the next purge."),
				nil)
		}
		return w.report(status, ready(v1beta2.ReasonReady, "It can be used."), nil)
	}
	switch {
	case w.Snapshot.Name == v1beta2.VolumeHead:
		return w.report(w.mirrored(nil), ready(v1beta2.ReasonFailed, v1beta2.VolumeHead+
			" is the part of every volume that is written to, no snapshot; delete this object."), nil)
	case w.seen():
		return w.missing()
	case !w.Snapshot.Spec.CreateSnapshot:
		return w.missing()
	case w.failed():
		return w.refused()
	}
	return w.create()
}

// missing is about a snapshot that was taken and is not in the engine's list. A list that is not known changes nothing
// of what was known.
func (w World) missing() Verdict {
	switch {
	case w.known():
		return w.report(w.mirrored(nil), ready(v1beta2.ReasonLost,
			"The engine does not list it now; im-monitor finds out whether it is gone."), nil)
	case w.isReported():
		return w.done(Verdict{Step: StepNone, Reason: "Unknown", Message: "The volume's engine is not running; what was known stays."})
	case w.Volume.Status.State != v1beta2.VolumeStateDetached:
		return w.report(w.mirrored(nil), ready(v1beta2.ReasonWaitingForAttach, "The engine of volume "+w.Volume.Name+
			" has not reported its list of snapshots; whether this one is among them is seen once it does."), nil)
	}
	return w.report(w.mirrored(nil), ready(v1beta2.ReasonVolumeDetached, "Volume "+w.Volume.Name+
		" is detached; its snapshots are seen when it is attached next."), nil)
}

// isReported reports whether the status reports something of it that a stopped engine does not make wrong.
func (w World) isReported() bool {
	for _, c := range w.Snapshot.Status.Conditions {
		if c.Type == v1beta2.SnapshotReady {
			return c.Reason != v1beta2.ReasonVolumeNotFound && c.Reason != v1beta2.ReasonWaitingForAttach
		}
	}
	return false
}

// create leads a snapshot that is to be taken to the moment at which that is approved, and then waits for the evidence. One that
// was refused is approved again.
func (w World) create() Verdict {
	status := w.mirrored(nil)
	asked := status.RequestedTime != "" && !w.failed()
	if !asked {
		if reason, problem := w.unfit(); reason != "" {
			return w.report(status, ready(reason, problem), nil)
		}
	}
	if !w.Attached() {
		return w.report(status, ready(v1beta2.ReasonWaitingForAttach, w.attachProblem()), w.wanted())
	}
	if !asked && !w.known() {
		return w.report(status, ready(v1beta2.ReasonCreating, "im-monitor has not reported the list of snapshots of volume "+w.Volume.Name+
			" yet."), w.kept())
	}
	if !asked {
		status.RequestedTime = w.requestTime()
	}
	if problem := w.waitsForLimit(); problem != "" {
		return w.report(status, ready(v1beta2.ReasonLimitReached, problem), w.kept())
	}
	return w.report(status, ready(v1beta2.ReasonCreating, "It is being taken."), w.kept())
}

// unfit states what stands against requesting it.
func (w World) unfit() (reason, message string) {
	if reason, message = Filling(w.Volume); reason != "" {
		return reason, message
	}
	if problem := w.overLimit(); problem != "" {
		return v1beta2.ReasonLimitReached, problem
	}
	return "", ""
}

// requestTime is the time at which taking it is approved; after the failure that it follows.
func (w World) requestTime() string {
	if f, ok := failureOf(conditions.Get(w.Snapshot.Status.Conditions, v1beta2.SnapshotProvisioned)); ok && w.failed() {
		return f.after(w.Now).UTC().Format(time.RFC3339Nano)
	}
	return text(w.Now)
}

// kept is the ticket that we have, as it is, until the work is done; an attached volume needs none of ours.
func (w World) kept() *v1beta2.AttachmentTicket { return w.ticket() }

// overLimit states which limit of the volume a further snapshot would break, by the engine's own rule where its list is known.
func (w World) overLimit() string {
	limits := snapshotlimit.OfVolume(w.Volume, w.Settings.MaxCount)
	if w.known() {
		return snapshotlimit.Reached(w.Volume.Name, w.Engine.Status.Snapshots, limits)
	}
	if w.Taken >= limits.Count {
		return fmt.Sprintf("Volume %s has %d snapshots and may have %d; delete some, or raise snapshotMaxCount.", w.Volume.Name, w.Taken,
			limits.Count)
	}
	return ""
}

// waitsForLimit states which limit im-monitor found when it was to take the snapshot; it continues by itself once there is room. Empty:
// none.
func (w World) waitsForLimit() string {
	for _, c := range w.Snapshot.Status.Conditions {
		if c.Type == v1beta2.SnapshotProvisioned && c.Status == v1beta2.ConditionFalse && c.Reason == v1beta2.ReasonLimitReached {
			return c.Message
		}
	}
	return ""
}
