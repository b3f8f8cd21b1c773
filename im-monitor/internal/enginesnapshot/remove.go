package enginesnapshot

import (
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// removals returns the snapshots to remove in one call, once no further Snapshots of the volume are deleted or approved. v1 marks
// whatever it is asked to remove, and purges what it can merge; v2 merges at once, or fails with the whole call.
func (p *pass) removals() {
	var refused []string
	for _, s := range p.Snapshots {
		info, there := p.Listed[s.Name]
		if !there || !p.mine(s) || !removing(s, p.Now) || p.purgeFailed(s) {
			continue
		}
		can := p.mergeable(info)
		if can && !p.V2 {
			p.out.Purge, p.out.For = true, append(p.out.For, s.Name)
		}
		if !info.Removed && (can || !p.V2) {
			p.out.Remove = append(p.out.Remove, s.Name)
			if is(s.RemovalFailed, v1beta2.ConditionTrue) {
				refused = append(refused, s.Name)
			}
		}
	}
	p.apart(refused)
	until := p.held(p.gathered())
	if len(p.out.Remove) == 0 && !p.out.Purge || !p.Now.Before(until) {
		return
	}
	p.out.Remove, p.out.Purge, p.out.For = nil, false, nil
	p.requeueAt(until)
}

// apart requests snapshots whose removal failed before one by one, and after all others: an engine that refuses one of a call keeps
// the rest.
func (p *pass) apart(refused []string) {
	if len(refused) == 0 || len(p.out.Remove) == 1 {
		return
	}
	others := slices.DeleteFunc(slices.Clone(p.out.Remove), func(name string) bool { return slices.Contains(refused, name) })
	if len(others) == 0 {
		others = refused[:1]
	}
	p.out.Remove = others
}

// purgeFailed reports that the purge for a snapshot ended with an error, and the snapshot still exists.
func (p *pass) purgeFailed(s Snapshot) bool {
	at, ours := p.Memory.Purged[s.Name]
	if !ours || p.Purging || p.PurgeError == "" || !p.Began.After(at) {
		return false
	}
	p.out.Memory.Purged = without(p.out.Memory.Purged, func(name string) bool { return name == s.Name })
	p.report(s, v1beta2.SnapshotRemovalFailed, v1beta2.ConditionTrue, v1beta2.ReasonPurgeFailed, "%s", p.PurgeError)
	return true
}

// removalPatience is for how long a failure prevents a removal whose approval is not withdrawn: an older
// snapshot-controller does not withdraw it.
const removalPatience = 30 * time.Minute

// removing reports whether the snapshot is to be removed now: its removal is approved, and has not failed since.
func removing(s Snapshot, now time.Time) bool {
	if !s.Deleting || !s.Approved {
		return false
	}
	at, failed := failedAt(s)
	return !failed || s.Since.After(at) || now.Sub(at) >= removalPatience
}

// FailedSince reports whether a failure to remove the snapshot was recorded after the approval.
func FailedSince(s Snapshot) bool {
	at, failed := failedAt(s)
	return failed && !s.Since.After(at)
}

func failedAt(s Snapshot) (time.Time, bool) {
	if !is(s.RemovalFailed, v1beta2.ConditionTrue) {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, s.RemovalFailed.LastProbeTime)
	return at, err == nil
}

// mergeable reports whether the engine can merge a snapshot into its child now.
func (p *pass) mergeable(s v1beta2.SnapshotInfo) bool {
	return len(s.Children) <= 1 && (p.V2 || !s.Children[Head])
}

// held returns until when removals wait.
func (p *pass) held(gathered time.Time) time.Time {
	until := p.Memory.RemoveAfter
	if gathered.After(until) {
		until = gathered
	}
	if soon := p.Now.Add(p.Rules.Busy); (!p.Alone || p.Busy || p.Rebuilding || p.Purging) && soon.After(until) {
		until = soon
	}
	return until
}

// gathered returns when the delay that batches removals ends.
func (p *pass) gathered() time.Time {
	deleting, approved := 0, 0
	for _, s := range p.Snapshots {
		if !p.mine(s) || !s.Deleting || !p.listed(s.Name) {
			continue
		}
		if deleting++; s.Approved {
			approved++
		}
	}
	m := &p.out.Memory
	switch {
	case deleting == 0:
		m.Gathering, m.Grown = time.Time{}, time.Time{}
	case m.Gathering.IsZero():
		m.Gathering, m.Grown = p.Now, p.Now
	case deleting > m.Deleting || approved > m.Approved:
		m.Grown = p.Now
	}
	m.Deleting, m.Approved = deleting, approved
	if deleting == 0 {
		return time.Time{}
	}
	until, latest := m.Grown.Add(p.Rules.Gather), m.Gathering.Add(p.Rules.Longest)
	if latest.Before(until) {
		return latest
	}
	return until
}
