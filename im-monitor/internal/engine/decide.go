package engine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// FailuresToErr is after how many failed additions a replica counts as failed: its owner may then try it anew, or another one.
const FailuresToErr = 3

// unknown begins the name of a listed replica that nobody names.
const unknown = "UNKNOWN-"

// Decide is total, deterministic and idempotent.
func Decide(w World) Verdict {
	p := &pass{World: w, listed: map[string]Replica{}}
	p.out.Status = *w.Engine.Status.DeepCopy()
	p.replicas()
	p.snapshots()
	p.volume()
	p.copies()
	p.looked()
	p.calls()
	p.next()
	return p.out
}

type pass struct {
	World
	// listed are the replicas by name.
	listed map[string]Replica
	going  bool
	out    Verdict
}

// replicas fills the maps of modes and addresses.
func (p *pass) replicas() {
	names := map[string]string{}
	for name, address := range p.Engine.Spec.ReplicaAddressMap {
		names[bare(address)] = name
	}
	s := &p.out.Status
	s.ReplicaModeMap, s.CurrentReplicaAddressMap = map[string]string{}, map[string]string{}
	for _, r := range p.Seen.Replicas {
		if r.Name == "" {
			r.Name = names[bare(r.Address)]
		}
		if r.Name == "" {
			r.Name = unknown + r.Address
		}
		p.listed[r.Name] = r
		s.ReplicaModeMap[r.Name] = p.mode(r)
		s.CurrentReplicaAddressMap[r.Name] = bare(r.Address)
		p.going = p.going || r.Mode != v1beta2.ReplicaModeRW
		if p.Engine.Spec.ReplicaAddressMap[r.Name] != "" && r.Mode == v1beta2.ReplicaModeWO && (p.out.Rebuilding == "" || r.Name < p.out.Rebuilding) {
			p.out.Rebuilding = r.Name
		}
	}
	if p.Adding != "" {
		p.out.Rebuilding = p.Adding
	}
	for name := range p.Engine.Spec.ReplicaAddressMap {
		if _, ok := p.listed[name]; !ok && p.Failures[name] >= FailuresToErr {
			s.ReplicaModeMap[name] = v1beta2.ReplicaModeERR
		}
	}
	p.transitions()
	if p.Seen.Rebuilds != nil {
		s.RebuildStatus = p.Seen.Rebuilds
	}
	s.RebuildStatus = p.ofListed(s.RebuildStatus)
}

// mode is what the engine says, but for a rebuild that was given up.
func (p *pass) mode(r Replica) string {
	if r.Mode == v1beta2.ReplicaModeWO && p.Failures[r.Name] >= FailuresToErr {
		return v1beta2.ReplicaModeERR
	}
	return r.Mode
}

// transitions notes when a replica's mode changed.
func (p *pass) transitions() {
	s, before := &p.out.Status, p.Engine.Status.ReplicaModeMap
	times := map[string]string{}
	for name, mode := range s.ReplicaModeMap {
		times[name] = p.Engine.Status.ReplicaTransitionTimeMap[name]
		if before[name] != mode || times[name] == "" {
			times[name] = p.Now.UTC().Format(time.RFC3339)
		}
	}
	s.ReplicaTransitionTimeMap = times
}

// ofListed leaves out rebuilds of replicas that the engine does not list any more.
func (p *pass) ofListed(all map[string]v1beta2.RebuildStatus) map[string]v1beta2.RebuildStatus {
	out := map[string]v1beta2.RebuildStatus{}
	for _, r := range p.Seen.Replicas {
		if one, ok := all[r.Address]; ok {
			out[r.Address] = one
		}
	}
	return out
}

func (p *pass) snapshots() {
	if p.Seen.Snapshots != nil {
		p.out.Status.Snapshots = p.Seen.Snapshots
	}
}

func (p *pass) volume() {
	v, s := p.Seen.Volume, &p.out.Status
	if v == nil {
		return
	}
	s.CurrentSize, s.IsExpanding = v.Size, v.Expanding
	s.LastExpansionError, s.LastExpansionFailedAt = v.ExpansionError, v.ExpansionAt
	p.going = p.going || v.Expanding
}

// copies keeps what came of a clone or a restore: a later run of the engine knows nothing of it.
func (p *pass) copies() {
	s := &p.out.Status
	if begun(p.Seen.Clones) {
		s.CloneStatus = p.Seen.Clones
		p.going = p.going || !cloned(p.Seen.Clones)
	}
	if len(p.Seen.Restores) == 0 {
		return
	}
	s.RestoreStatus = p.Seen.Restores
	done := p.Engine.Spec.RequestedBackupRestore
	for _, one := range p.Seen.Restores {
		if one.IsRestoring {
			p.going = true
		}
		if one.IsRestoring || one.Error != "" || one.LastRestored != done {
			done = ""
		}
	}
	if done != "" {
		s.LastRestoredBackup = done
	}
}

// looked answers who asked for a look that is not older.
func (p *pass) looked() {
	asked := parse(p.Engine.Spec.LookRequestedAt)
	if asked.IsZero() || !parse(p.Engine.Status.LookedAt).Before(asked) {
		return
	}
	at := p.Seen.Began
	if at.Before(asked) {
		at = asked // the clocks differ: the look began after the request was read
	}
	p.out.Status.LookedAt = at.UTC().Format(time.RFC3339Nano)
}

// calls finds what is due: removals at once, else one thing at a time.
func (p *pass) calls() {
	p.removals()
	if len(p.out.Calls) > 0 || p.Adding != "" || p.rebuilding() {
		return
	}
	switch e := p.Engine; {
	case p.Seen.Volume != nil && e.Spec.VolumeSize > p.Seen.Volume.Size && !p.Seen.Volume.Expanding && !p.waits(Call{Op: OpExpand}):
		p.call(Call{Op: OpExpand, Size: e.Spec.VolumeSize})
	case p.Seen.Clones != nil && !begun(p.Seen.Clones) && !cloned(e.Status.CloneStatus) && !p.waits(Call{Op: OpClone}):
		volume, snapshot := source(e.Spec.RequestedDataSource)
		p.call(Call{Op: OpClone, Volume: volume, Snapshot: snapshot})
	case p.Seen.Restores != nil && !p.restoreBegun() && !p.waits(Call{Op: OpRestore}):
		p.call(Call{Op: OpRestore})
	default:
		p.addition()
	}
}

// restoreBegun tells that the engine has begun with this backup, or failed with it.
func (p *pass) restoreBegun() bool {
	for _, one := range p.Seen.Restores {
		if one.IsRestoring || one.Error != "" || one.LastRestored == p.Engine.Spec.RequestedBackupRestore {
			return true
		}
	}
	return false
}

// removals take out what the engine lists and the spec does not have, and what is listed at an address of an earlier run.
func (p *pass) removals() {
	wanted := p.Engine.Spec.ReplicaAddressMap
	stays := false
	for name, r := range p.listed {
		stays = stays || r.Mode == v1beta2.ReplicaModeRW && wanted[name] != "" && bare(wanted[name]) == bare(r.Address)
	}
	if !stays {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.listed)) {
		r := p.listed[name]
		address, ok := wanted[name]
		if strings.HasPrefix(name, unknown) {
			r.Name = ""
		}
		call := Call{Op: OpRemove, Name: r.Name, Address: r.Address}
		if ok && bare(address) == bare(r.Address) || p.waits(call) {
			continue
		}
		p.call(call)
	}
}

func (p *pass) rebuilding() bool { return p.has(v1beta2.ReplicaModeWO) }

func (p *pass) has(mode string) bool {
	for _, r := range p.listed {
		if r.Mode == mode {
			return true
		}
	}
	return false
}

// addition lets the next missing replica in, while there is one to rebuild it from.
func (p *pass) addition() {
	if !p.has(v1beta2.ReplicaModeRW) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.Engine.Spec.ReplicaAddressMap)) {
		if _, ok := p.listed[name]; ok || p.Failures[name] >= FailuresToErr {
			continue
		}
		p.going = true
		call := Call{Op: OpAdd, Name: name, Address: bare(p.Engine.Spec.ReplicaAddressMap[name]), Size: p.size()}
		if !p.waits(call) {
			p.call(call)
			return
		}
	}
}

func (p *pass) size() int64 {
	if p.out.Status.CurrentSize > 0 {
		return p.out.Status.CurrentSize
	}
	return p.Engine.Spec.VolumeSize
}

func (p *pass) call(c Call) {
	p.going = true
	p.out.Calls = append(p.out.Calls, c)
}

func (p *pass) waits(c Call) bool { return p.Now.Before(p.Waits[c.Key()]) }

func (p *pass) next() {
	p.out.Next = p.Period
	if p.out.Going = p.going || p.Adding != "" || p.Now.Before(p.Unsettled); p.out.Going {
		p.out.Next = p.Busy
	}
}

// source reads `snap://<volume>/<snapshot>`.
func source(text string) (volume, snapshot string) {
	volume, snapshot, _ = strings.Cut(strings.TrimPrefix(text, "snap://"), "/")
	return volume, snapshot
}

func bare(address string) string { return strings.TrimPrefix(address, "tcp://") }

func parse(at string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return time.Time{}
	}
	return t
}
