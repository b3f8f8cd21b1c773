package engine

import (
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// leftovers are the snapshots that a purge would take out, or mark as removed: system snapshots, as rebuilds leave them. v2 takes out those
// alone that have one child at most.
func (p *pass) leftovers() []string {
	var out []string
	for name, info := range p.Seen.Snapshots {
		mergeable := p.Engine.Spec.DataEngine != v1beta2.DataEngineV2 || len(info.Children) <= 1
		if name != snapshotlimit.Head && !info.UserCreated && !info.Removed && mergeable {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// removedMergeable reports whether a v1 purge would merge a snapshot that is marked as removed.
func (p *pass) removedMergeable() bool {
	for name, info := range p.Seen.Snapshots {
		if name != snapshotlimit.Head && info.Removed && len(info.Children) <= 1 && !info.Children[snapshotlimit.Head] {
			return true
		}
	}
	return false
}

// makeRoom is due before an addition, which takes a snapshot and is refused at the engine's limits. It reports whether the addition must
// wait.
func (p *pass) makeRoom() bool {
	if p.Seen.Snapshots == nil {
		return false
	}
	held := snapshotlimit.Reached(p.Engine.Spec.VolumeName, p.Seen.Snapshots, SnapshotLimits(p.Engine))
	if held == "" {
		return false
	}
	purge := Call{Op: OpPurge}
	switch {
	case !p.CleanUp || len(p.leftovers()) == 0 && !p.removedMergeable():
		p.out.Held = held
	case !p.waits(purge):
		p.call(purge)
	default:
		p.going = true
	}
	return true
}

// cleanUp purges once after a successful rebuild, when the engine has what a rebuild leaves. What a purge left there is not purged again.
func (p *pass) cleanUp() {
	left := strings.Join(p.leftovers(), " ")
	if !p.CleanUp || left == "" || left == p.Purged || !p.Engine.Spec.Active || !p.rebuilt() || p.waits(Call{Op: OpPurge}) {
		return
	}
	p.call(Call{Op: OpPurge})
	p.out.Purged = left
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
