package enginesnapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Decide is total, deterministic and idempotent: applied to the result of its own verdict it requires nothing more.
func Decide(w World) Verdict {
	p := &pass{World: w, known: map[string]bool{}, absent: map[string]time.Time{}}
	p.out.Memory = w.Memory
	p.out.Memory.Polled = true
	p.Snapshots = slices.SortedFunc(slices.Values(w.Snapshots), func(a, b Snapshot) int {
		return strings.Compare(a.Name, b.Name)
	})
	if !Whole(w) {
		p.out.Memory.Missing, p.out.Memory.Strange = nil, nil
		return p.out
	}
	for _, s := range p.Snapshots {
		p.known[s.Name] = true
	}
	p.provision()
	p.removals()
	p.withdraw()
	p.mirror()
	p.forget()
	return p.out
}

// Whole reports whether a poll is of the volume's active engine and complete.
func Whole(w World) bool {
	_, head := w.Listed[Head]
	return w.Active && w.RW && head && w.VolumeUID != ""
}

type pass struct {
	World
	known map[string]bool
	// absent are snapshots that this poll did not list, with the time of the first such poll.
	absent map[string]time.Time
	out    Verdict
}

// mine reports whether an object is of this engine's volume, and not withdrawn.
func (p *pass) mine(s Snapshot) bool {
	return s.Owner == p.VolumeUID && !is(s.Withdrawn, v1beta2.ConditionTrue) && s.Name != Head
}

func (p *pass) listed(name string) bool { _, ok := p.Listed[name]; return ok }

// had reports whether the engine has ever had the snapshot.
func had(s Snapshot) bool {
	return !s.Create || s.Seen || is(s.Provisioned, v1beta2.ConditionTrue)
}

// withdraw finds objects whose snapshots are gone.
func (p *pass) withdraw() {
	for _, s := range p.Snapshots {
		if !p.mine(s) || p.listed(s.Name) || !had(s) || removing(s, p.Now) && s.Seen { // the engine's status reports these
			continue
		}
		since, before := p.Memory.Missing[s.Name]
		if !before {
			since = p.Began
		}
		removed, ours := p.Memory.Removed[s.Name]
		switch {
		case ours && p.Began.After(removed):
			p.report(s, v1beta2.SnapshotWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonSnapshotGone, "The engine removed the snapshot.")
		case before && p.Began.Sub(since) >= p.Rules.Gap:
			p.report(s, v1beta2.SnapshotWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonSnapshotGone,
				"Two polls of the volume's running engine did not list the snapshot.")
		case p.Memory.Polled:
			p.absent[s.Name] = since
			p.requeueAt(since.Add(p.Rules.Gap))
		default: // never by the first poll of an engine
			p.requeueAt(p.Now.Add(p.Rules.Busy))
		}
	}
	p.out.Memory.Missing = p.absent
}

// mirror finds snapshots without an object.
func (p *pass) mirror() {
	strange := map[string]time.Time{}
	for _, name := range slices.Sorted(maps.Keys(p.Listed)) {
		if name == Head || p.known[name] || p.Others[name] {
			continue
		}
		since, before := p.Memory.Strange[name]
		if before && p.Began.After(since) {
			p.out.Mirror = append(p.out.Mirror, name)
		}
		if !before {
			since = p.Began
			p.requeueAt(p.Now.Add(p.Rules.Busy))
		}
		strange[name] = since
	}
	p.out.Memory.Strange = strange
}

// forget drops the memory of snapshots that neither the engine nor an object has.
func (p *pass) forget() {
	m := &p.out.Memory
	gone := func(name string) bool { return !p.known[name] && !p.listed(name) }
	m.Called, m.Open, m.TakeAfter = without(m.Called, gone), without(m.Open, gone), without(m.TakeAfter, gone)
	m.Removed, m.Purged = without(m.Removed, gone), without(m.Purged, gone)
}

// without returns a copy of a map without some of its keys.
func without[V any](m map[string]V, gone func(string) bool) map[string]V {
	out := map[string]V{}
	for name, v := range m {
		if !gone(name) {
			out[name] = v
		}
	}
	return out
}

// report sets a condition where it differs.
func (p *pass) report(s Snapshot, kind string, status v1beta2.ConditionStatus, reason, format string, args ...any) {
	before, newRequest := s.Provisioned, again(s) && !s.Requested.After(p.Now) // the same answer to another request
	switch kind {
	case v1beta2.SnapshotWithdrawn:
		before, newRequest = s.Withdrawn, false
	case v1beta2.SnapshotRemovalFailed:
		before, newRequest = s.RemovalFailed, !FailedSince(s)
	}
	if before != nil && before.Status == status && before.Reason == reason && !newRequest {
		return
	}
	p.out.Changes = append(p.out.Changes, Change{s.Name,
		v1beta2.Condition{Type: kind, Status: status, Reason: reason, Message: fmt.Sprintf(format, args...)}})
}

func (p *pass) requeueAt(at time.Time) {
	if p.out.RequeueAt.IsZero() || at.Before(p.out.RequeueAt) {
		p.out.RequeueAt = at
	}
}

func is(c *v1beta2.Condition, status v1beta2.ConditionStatus) bool {
	return c != nil && c.Status == status
}
