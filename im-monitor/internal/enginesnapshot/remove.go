package enginesnapshot

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// removals finds what is removed in one call, once nobody deletes further Snapshots of the volume.
func (p *pass) removals() {
	marked := false
	for _, s := range p.Snapshots {
		if !p.mine(s) || !s.Deleting || !s.Approved || !p.listed(s.Name) {
			continue
		}
		if !p.mergeable(p.Listed[s.Name]) {
			continue // until the next look, or until policy takes its approval back
		}
		if p.Listed[s.Name].Removed {
			marked = true
			continue
		}
		p.out.Remove = append(p.out.Remove, s.Name)
	}
	gathered := p.gathered()
	if len(p.out.Remove) == 0 && !marked {
		return
	}
	if until := p.held(gathered); p.Now.Before(until) {
		p.out.Remove = nil
		p.wake(until)
		return
	}
	p.out.Purge = !p.V2
}

// mergeable tells that the engine can merge a snapshot now. Policy knows that too; this is for what changed since.
func (p *pass) mergeable(s v1beta2.SnapshotInfo) bool {
	return len(s.Children) <= 1 && (p.V2 || !s.Children[Head])
}

// held is until when removals wait.
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

// gathered is when removals need not wait for further ones.
func (p *pass) gathered() time.Time {
	deleting := 0
	for _, s := range p.Snapshots {
		if p.mine(s) && s.Deleting && p.listed(s.Name) {
			deleting++
		}
	}
	m := &p.out.Memory
	switch {
	case deleting == 0:
		m.Gathering, m.Grown = time.Time{}, time.Time{}
	case m.Gathering.IsZero():
		m.Gathering, m.Grown = p.Now, p.Now
	case deleting > m.Deleting:
		m.Grown = p.Now
	}
	m.Deleting = deleting
	if deleting == 0 {
		return time.Time{}
	}
	until, latest := m.Grown.Add(p.Rules.Gather), m.Gathering.Add(p.Rules.Longest)
	if latest.Before(until) {
		return latest
	}
	return until
}
