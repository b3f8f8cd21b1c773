package engine

import (
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// leftovers are the snapshots that a purge would remove, or mark as removed: system snapshots, as rebuilds leave them. v2 removes only
// those that have one child at most.
func (p *pass) leftovers() []string {
	var out []string
	for name, info := range p.Snapshots {
		mergeable := p.Engine.Spec.DataEngine != v1beta2.DataEngineV2 || len(info.Children) <= 1
		if name != snapshotlimit.Head && !info.UserCreated && !info.Removed && mergeable {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// purgeable are the leftovers, and the snapshots that are marked as removed and that a v1 purge would merge.
func (p *pass) purgeable() string {
	out := p.leftovers()
	for name, info := range p.Snapshots {
		if name != snapshotlimit.Head && info.Removed && len(info.Children) <= 1 && !info.Children[snapshotlimit.Head] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// makeRoom purges before an addition, which takes a snapshot and is refused at the engine's limits. It reports whether the addition must
// wait.
func (p *pass) makeRoom() bool {
	held := p.full()
	if held == "" {
		return false
	}
	purge, purgeable := Call{Op: OpPurge}, p.purgeable()
	switch {
	case p.CleanUp && purgeable != "" && p.waits(purge): // the last one may not show yet
		p.going = true
	case !p.roomCanBeMade():
		p.out.Held = held
	default:
		p.call(purge)
		p.out.MakesRoom, p.out.Purged = held, purgeable
	}
	return true
}

// full returns the snapshot limit that the engine has reached; empty where it has reached none, or its snapshots are not known.
func (p *pass) full() string {
	if p.Snapshots == nil {
		return ""
	}
	return snapshotlimit.Reached(p.Engine.Spec.VolumeName, p.Snapshots, snapshotlimit.OfEngine(p.Engine))
}

// roomCanBeMade reports whether a purge may remove a snapshot. Those that the last one was for, and left, stay: v2 answers OK all the same.
func (p *pass) roomCanBeMade() bool {
	purgeable := p.purgeable()
	return p.CleanUp && purgeable != "" && purgeable != p.Purged
}

// purgeDue: an addition needs room, or a rebuild left system snapshots.
func (p *pass) purgeDue() bool {
	return p.cleanUpDue() || len(p.missing()) > 0 && p.full() != "" && p.roomCanBeMade()
}

// cleanUpDue: once after a successful rebuild that left system snapshots. Snapshots that a purge left are not purged again.
func (p *pass) cleanUpDue() bool {
	left := strings.Join(p.leftovers(), " ")
	return p.CleanUp && left != "" && left != p.Purged && p.Engine.Spec.Active && p.rebuilt()
}

func (p *pass) cleanUp() {
	if purge := (Call{Op: OpPurge}); p.cleanUpDue() && !p.waits(purge) {
		p.call(purge)
		p.out.Purged = strings.Join(p.leftovers(), " ")
	}
}

// rebuilt reports whether every replica is RW, and one of them was rebuilt in this run of the engine.
func (p *pass) rebuilt() bool {
	once := false
	for name := range p.Engine.Spec.ReplicaAddressMap {
		r, ok := p.listed[name]
		if !ok || r.Mode != v1beta2.ReplicaModeRW {
			return false
		}
		one := p.out.Status.RebuildStatus[r.Address]
		once = once || !one.IsRebuilding && one.State == rebuildComplete
	}
	return once
}
