package snapshot

import (
	"maps"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// own returns those parts of a status that this controller writes, as they are.
func own(s v1beta2.SnapshotStatus) v1beta2.SnapshotStatus {
	return v1beta2.SnapshotStatus{
		Parent: s.Parent, Children: s.Children, MarkRemoved: s.MarkRemoved, UserCreated: s.UserCreated,
		CreationTime: s.CreationTime, Size: s.Size, Labels: s.Labels, Error: s.Error, RestoreSize: s.RestoreSize,
		ReadyToUse: s.ReadyToUse, RequestedTime: s.RequestedTime, ObservedGeneration: s.ObservedGeneration,
		Conditions: conditions.Owned(s.Conditions, v1beta2.SnapshotReady, v1beta2.SnapshotRemovalApproved),
	}
}

// mirrored is the status with the engine's facts in it; without any it stays as it is.
func (w World) mirrored(info *v1beta2.SnapshotInfo) v1beta2.SnapshotStatus {
	out := own(w.Snapshot.Status)
	out.ObservedGeneration = w.Snapshot.Generation
	if info == nil {
		return out
	}
	out.Parent, out.Children, out.Labels = info.Parent, info.Children, info.Labels
	out.MarkRemoved, out.UserCreated, out.CreationTime = info.Removed, info.UserCreated, info.Created
	if out.CreationTime == "" {
		out.CreationTime = w.Now.UTC().Format(time.RFC3339)
	}
	if old := w.Snapshot.Status.CreationTime; info.Created == "" && old != "" {
		out.CreationTime = old
	}
	out.Size = v1beta2.BytesOf(info.Size)
	if out.RestoreSize == 0 && w.Volume != nil {
		out.RestoreSize = w.Volume.Spec.Size
	}
	return out
}

func ready(reason, message string) v1beta2.Condition {
	return v1beta2.Condition{Type: v1beta2.SnapshotReady, Status: truth(reason == v1beta2.ReasonReady), Reason: reason, Message: message}
}

func approval(reason, message string) v1beta2.Condition {
	return v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: truth(reason == v1beta2.ReasonRequested), Reason: reason,
		Message: message}
}

func truth(is bool) v1beta2.ConditionStatus {
	if is {
		return v1beta2.ConditionTrue
	}
	return v1beta2.ConditionFalse
}

// report puts a condition into the status and makes what is missing of it, and of the ticket, the verdict. A ticket that is
// needed comes before the status that reports it; one that is not goes after the status that explains why.
func (w World) report(status v1beta2.SnapshotStatus, c v1beta2.Condition, ticket *v1beta2.AttachmentTicket) Verdict {
	now := w.Now
	if f, failed := w.removalFailure(); failed && c.Type == v1beta2.SnapshotRemovalApproved && c.Status == v1beta2.ConditionTrue {
		now = f.nextSecond(now) // the precision of a transition time
	}
	status.Conditions = conditions.Owned(conditions.Set(status.Conditions, c, now), v1beta2.SnapshotReady, v1beta2.SnapshotRemovalApproved)
	if c.Type == v1beta2.SnapshotReady {
		status.ReadyToUse = c.Status == v1beta2.ConditionTrue
		status.Error = errorOf(c)
	}
	v := Verdict{Step: StepNone, Status: status, Ticket: ticket, Reason: c.Reason, Message: c.Message}
	held := w.ticket()
	switch {
	case ticket != nil && (held == nil || !SameTicket(*held, *ticket)):
		v.Step = StepTakeTicket
	case !w.equal(own(w.Snapshot.Status), status):
		v.Step = StepStatus
	case ticket == nil && held != nil:
		v.Step = StepDropTicket
	}
	return v
}

// errorOf is the sentence for status.error: only what is wrong, not what is under way.
func errorOf(c v1beta2.Condition) string {
	switch c.Reason {
	case v1beta2.ReasonFailed, v1beta2.ReasonLost, v1beta2.ReasonLimitReached, v1beta2.ReasonVolumeNotFound:
		return c.Message
	}
	return ""
}

// equal reports whether a status that is stored reports what the other one does.
func (w World) equal(a, b v1beta2.SnapshotStatus) bool {
	return a.Parent == b.Parent && w.sameChildren(a, b) && maps.Equal(a.Labels, b.Labels) &&
		a.MarkRemoved == b.MarkRemoved && a.UserCreated == b.UserCreated && a.CreationTime == b.CreationTime &&
		a.Size == b.Size && a.Error == b.Error && a.RestoreSize == b.RestoreSize && a.ReadyToUse == b.ReadyToUse &&
		a.RequestedTime == b.RequestedTime && conditions.Equal(a.Conditions, b.Conditions)
}

// sameChildren reports whether the children that are stored need no write. Those whose Snapshots name this one as their parent need not be
// stored, as long as they show whether the volume's head builds on it. A refusal for its children is written with them.
func (w World) sameChildren(a, b v1beta2.SnapshotStatus) bool {
	if maps.Equal(a.Children, b.Children) {
		return true
	}
	switch conditions.Reason(b.Conditions, v1beta2.SnapshotRemovalApproved) {
	case v1beta2.ReasonHasMultipleChildren, v1beta2.ReasonParentOfVolumeHead:
		return false
	}
	return v1beta2.IsParentOfHead(a.Children, w.Above) == b.Children[v1beta2.VolumeHead]
}
