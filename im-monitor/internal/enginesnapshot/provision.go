package enginesnapshot

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// provision handles a requested snapshot.
func (p *pass) provision() {
	limit := snapshotlimit.Reached(p.Volume, p.Listed, p.Limits)
	for _, s := range p.Snapshots {
		switch {
		case !p.mine(s) || !s.Create:
		case p.listed(s.Name):
			p.there(s)
		case s.Requested.IsZero() || had(s):
		case s.Deleting:
			p.cancel(s)
		case p.due(s):
			if limit != "" { // it is taken once there is room: the list changes then, or the limit
				p.report(s, v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonLimitReached, "%s", limit)
				continue
			}
			p.out.Take = append(p.out.Take, s.Name)
			limit = snapshotlimit.Reached(p.Volume, p.Listed, p.Limits.Less(len(p.out.Take)))
		}
	}
}

// there: the engine has the requested snapshot. The engine's list shows that it was taken; a condition is written where
// the list is not enough: another condition was written before, or the snapshot existed before the request.
func (p *pass) there(s Snapshot) {
	ours := p.Memory.Called[s.Name] || p.taken(s)
	switch {
	case is(s.Provisioned, v1beta2.ConditionTrue):
	case ours && s.Provisioned != nil:
		p.report(s, v1beta2.SnapshotProvisioned, v1beta2.ConditionTrue, v1beta2.ReasonTaken, "The engine took the snapshot.")
	case ours || s.Provisioned == nil && s.Seen && !s.Requested.IsZero():
	default:
		p.report(s, v1beta2.SnapshotProvisioned, v1beta2.ConditionTrue, v1beta2.ReasonAdopted,
			"The engine had a snapshot of this name already.")
	}
}

// taken reports whether a snapshot was created after its request, thus by an earlier leader.
func (p *pass) taken(s Snapshot) bool {
	info := p.Listed[s.Name]
	created, err := time.Parse(time.RFC3339, info.Created)
	return err == nil && info.UserCreated && !s.Requested.IsZero() && !created.Before(s.Requested.Truncate(time.Second))
}

// cancel: the Snapshot was deleted and the engine lacks the snapshot. A call that may still be in progress must end first; where the
// engine refused, it may have begun nevertheless, and two polls must not list the snapshot.
func (p *pass) cancel(s Snapshot) {
	if is(s.Provisioned, v1beta2.ConditionFalse) && s.Provisioned.Reason == v1beta2.ReasonCancelled {
		return
	}
	if s.Provisioned != nil && s.Provisioned.Reason == v1beta2.ReasonFailed && !p.stillAbsent(s) {
		return
	}
	until := p.Memory.Open[s.Name]
	if s.Requested.Before(p.ElectedAt) && p.FencingDelayEnds.After(until) {
		until = p.FencingDelayEnds
	}
	if p.Began.Before(until) {
		p.requeueAt(until)
		return
	}
	p.report(s, v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonCancelled,
		"The Snapshot was deleted before the snapshot was taken.")
}

// stillAbsent reports whether two polls, the gap apart, did not list the snapshot; never for the first poll of an engine.
func (p *pass) stillAbsent(s Snapshot) bool {
	if !p.Memory.Polled {
		p.requeueAt(p.Now.Add(p.Rules.Busy))
		return false
	}
	since, before := p.Memory.Missing[s.Name]
	if !before {
		since = p.Began
	}
	if p.Began.Sub(since) >= p.Rules.Gap {
		return true
	}
	p.absent[s.Name] = since
	p.requeueAt(since.Add(p.Rules.Gap))
	return false
}

// due reports whether a snapshot may be taken now, and otherwise when to decide again.
func (p *pass) due(s Snapshot) bool {
	if is(s.Provisioned, v1beta2.ConditionFalse) && s.Provisioned.Reason != v1beta2.ReasonLimitReached && !again(s) {
		return false
	}
	if !p.Alone || p.Busy || p.V2 && p.Rebuilding {
		p.requeueAt(p.Now.Add(p.Rules.Busy))
		return false
	}
	if after := p.Memory.TakeAfter[s.Name]; p.Now.Before(after) {
		p.requeueAt(after)
		return false
	}
	return true
}

// AskedAnew reports whether a request came after the failure was recorded, so that the failure does not answer it.
func AskedAnew(requested time.Time, failed *v1beta2.Condition) bool {
	return again(Snapshot{Requested: requested, Provisioned: failed})
}

// again reports whether the snapshot was requested again after a failure.
func again(s Snapshot) bool {
	if s.Provisioned == nil || s.Provisioned.Reason != v1beta2.ReasonFailed {
		return false
	}
	at, err := time.Parse(time.RFC3339, s.Provisioned.LastProbeTime)
	return err == nil && s.Requested.After(at)
}
