package dataplane

import (
	"maps"
	"slices"
)

// Modes in which an engine holds a replica.
const (
	ModeRW  = "RW"
	ModeWO  = "WO"
	ModeERR = "ERR"
)

// engineRun is what a running engine knows beside its instance: its replicas, and what continues with them.
type engineRun struct {
	plane  *Plane
	engine *Instance
	volume *volume // nil when no one reported which
	epoch  uint64
	open   bool
	// members are the replicas by name.
	members map[string]*member

	size      uint64
	frontend  string // of v1; empty while it is shut down
	expansion expansion
	settings  EngineSettings
	jobs      jobs
}

// member is one replica as an engine sees it.
type member struct {
	run           *engineRun
	name, address string
	mode          string
	replica       *Instance
	data          *data // nil for an address that no one reported
	// unfit is why the engine left the replica out when it opened it.
	unfit string
	// checking is true while the engine waits for a replica that does not answer.
	checking bool
	rebuild  *job
	source   string // address that a rebuild copies from
	// stranded: the caller of its ReplicaAdd disconnected before the end; synced: all was copied to its disk, and it has not read that.
	stranded, synced bool
	// restore is the last restore into a v1 replica; restored is the backup that it has.
	restore  *restoring
	restored string
}

// EngineSettings are what can be set on a running engine.
type EngineSettings struct {
	SnapshotMaxCount int32
	SnapshotMaxSize  int64
	UnmapMark        bool
	RebuildLimit     int32
	RebuildQoS       int64
}

// start opens an engine's replicas; the lock is held, the engine is not listed yet. It answers why there is no usable one, or "".
func (p *Plane) start(i *Instance, source string) string {
	p.epoch++
	a := i.takes()
	r := &engineRun{plane: p, engine: i, volume: p.volume(volumeOf(i.Spec)), epoch: p.epoch, open: true, members: map[string]*member{},
		size:     i.Size,
		frontend: i.Frontend, settings: EngineSettings{SnapshotMaxCount: 250, RebuildLimit: 1}}
	if i.server.engine == V1 && len(a) > 0 {
		r.size, r.frontend = max(a.number("--current-size"), a.number("--size")), a.one("--frontend")
		r.settings.UnmapMark = a.has("--unmap-mark-snap-chain-removed")
		if a.has("--snapshot-max-count") {
			r.settings.SnapshotMaxCount = int32(a.number("--snapshot-max-count"))
		}
		r.settings.SnapshotMaxSize, r.settings.UnmapMark = int64(a.number("--snapshot-max-size")), a.has("--unmap-mark-snap-chain-removed")
		r.settings.RebuildLimit = max(int32(a.number("--rebuild-sync-concurrent-limit")), 1)
	} else if i.SnapshotMaxCount > 0 {
		r.settings.SnapshotMaxCount = i.SnapshotMaxCount
	}
	for name, where := range i.Replicas {
		r.join(name, where, ModeRW)
	}
	if i.server.engine == V1 && source == SourceWire {
		r.fit()
	}
	r.choose(source)
	if source == SourceWire && !r.usable() {
		why := r.whyNone()
		r.close()
		return why
	}
	i.run = r
	if r.volume != nil {
		r.register()
	}
	return ""
}

// join takes a replica in. One that does not answer is in mode ERR; an address that no one reported counts as answering.
func (r *engineRun) join(name, where, mode string) *member {
	m := &member{run: r, name: name, address: where, mode: mode}
	if where != "" {
		m.replica = r.plane.replicaAt(where)
		m.data = m.replica.dataOf()
		if !m.reachable() {
			m.mode = ModeERR
		}
		m.openProcess()
		m.agree()
	}
	r.members[name] = m
	if r.plane.mapped[where] == nil {
		r.plane.mapped[where] = map[*member]bool{}
	}
	r.plane.mapped[where][m] = true
	return m
}

// leave lets a replica go.
func (r *engineRun) leave(m *member) {
	delete(r.members, m.name)
	delete(r.plane.mapped[m.address], m)
	if len(r.plane.mapped[m.address]) == 0 {
		delete(r.plane.mapped, m.address)
	}
	m.closeProcess()
	m.interrupt("the replica was removed")
}

// reachable reports whether the replica that was opened still answers.
func (m *member) reachable() bool {
	if m.address == "" {
		return true
	}
	return m.replica != nil && m.replica == m.run.plane.replicaAt(m.address) && reaches(m.run.engine.server.node, m.replica.server.node)
}

// choose leaves out replicas that the engine itself knows to be unfit. v1 checks unfinished rebuilds and, unless that is disabled, at the
// revision counter; a salvage keeps the best one alone. v2 takes what it is given.
func (r *engineRun) choose(source string) {
	a := r.engine.takes()
	v1 := r.engine.server.engine == V1
	best := r.best()
	if best == nil || source != SourceWire {
		return
	}
	if v1 && len(r.members) == 1 { // a v1 engine takes the mark of an unfinished rebuild from its only replica, and serves it
		best.data.partial = false
	}
	salvage := r.engine.SalvageRequested || a.has("--salvageRequested")
	for _, m := range r.sorted() {
		switch {
		case m.mode != ModeRW || m.data == nil || m == best:
		case salvage, v1 && m.data.partial, v1 && !a.has("--disableRevCounter") && m.data.Writes() < best.data.Writes():
			m.leaveOut("it is not the newest, or not whole")
		}
	}
	if v1 && best.data.partial {
		best.leaveOut("it is not whole")
	}
}

// best is the usable replica with the newest write; whole ones first.
func (r *engineRun) best() *member {
	var best *member
	for _, m := range r.sorted() {
		if m.mode != ModeRW || m.data == nil {
			continue
		}
		if best == nil || best.data.partial && !m.data.partial || best.data.partial == m.data.partial &&
			m.data.Writes() > best.data.Writes() {
			best = m
		}
	}
	return best
}

// usable reports whether a replica can be read.
func (r *engineRun) usable() bool {
	for _, m := range r.members {
		if m.mode == ModeRW {
			return true
		}
	}
	return false
}

// sorted are the members by name.
func (r *engineRun) sorted() []*member {
	out := make([]*member, 0, len(r.members))
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		out = append(out, r.members[name])
	}
	return out
}

// with are the members in a mode that have data.
func (r *engineRun) with(modes ...string) []*member {
	var out []*member
	for _, m := range r.sorted() {
		if m.data != nil && slices.Contains(modes, m.mode) {
			out = append(out, m)
		}
	}
	return out
}

// rebuilding reports whether a replica is being rebuilt, or was left WO by a rebuild. One that waits for a restore is not.
func (r *engineRun) rebuilding() bool {
	return slices.ContainsFunc(r.with(ModeWO), func(m *member) bool { return m.rebuild != nil })
}

// modes are the replicas' modes by name. An engine that failed holds none.
func (p *Plane) modes(engine *Instance) map[string]string {
	out := make(map[string]string, len(engine.Replicas))
	for name := range engine.Replicas {
		out[name] = ModeERR
		if engine.run != nil && engine.run.members[name] != nil {
			out[name] = engine.run.members[name].mode
		}
	}
	return out
}
