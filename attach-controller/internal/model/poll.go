package model

import (
	"maps"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// start starts a requested instance.
func (w *world) start(i instance) {
	x := w.plane.begin(i.kind, i.name, i.node)
	w.trace("monitor: starts %s %s on %s", i.kind, i.name, i.node)
	if i.kind == kindEngine {
		w.open(x)
	}
	for _, f := range current(w.frontends) {
		if i.kind == kindFrontend && f.Name == i.name {
			w.connect(f)
		}
	}
}

// open connects an engine to its replicas; it continues without replicas that do not answer. An engine that salvages keeps the newest
// replica alone.
func (w *world) open(x *process) {
	x.modes = map[string]string{}
	for _, e := range current(w.engines) {
		if e.Name != x.name {
			continue
		}
		for name := range e.Spec.ReplicaAddressMap {
			x.modes[name] = v1beta2.ReplicaModeERR
			if w.opens(name, x) {
				x.modes[name] = v1beta2.ReplicaModeRW
			}
		}
		if e.Spec.SalvageRequested {
			w.keepNewest(x)
		}
	}
	x.failed = !x.usable()
	w.checkOpen(x)
}

// keepNewest leaves out all replicas of an engine but one that has the newest data.
func (w *world) keepNewest(x *process) {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(x.modes)) {
		better := best == "" || w.plane.versions[w.data(name)] > w.plane.versions[w.data(best)]
		if x.modes[name] == v1beta2.ReplicaModeRW && better {
			best = name
		}
	}
	for name := range x.modes {
		if name != best {
			x.modes[name] = v1beta2.ReplicaModeERR
		}
	}
}

// lastPoll records the modes of an engine's replicas right before it is stopped.
func (w *world) lastPoll(x *process) bool {
	for _, s := range w.engines {
		if s.now != nil && s.now.Name == x.name && x.kind == kindEngine && !maps.Equal(s.now.Status.ReplicaModeMap, x.modes) {
			return write(w, s, nil, func(e *v1beta2.Engine) { e.Status.ReplicaModeMap = maps.Clone(x.modes) })
		}
	}
	return true
}

// poll is im-monitor's part for a running engine: it gives the engine its wanted replicas, and records their modes.
func (w *world) poll(s *slot[v1beta2.Engine]) {
	e := s.now
	if e == nil || e.Spec.DesireState != v1beta2.InstanceStateRunning || !w.reachable(e.Spec.NodeID) {
		return
	}
	x := w.plane.find(kindEngine, e.Name, e.Spec.NodeID)
	if x == nil || x.failed || ofEngine(e).state != v1beta2.InstanceStateRunning {
		return
	}
	w.exchange(x, e)
	w.rebuild(x)
	next := *e
	w.seen(&next, x)
	if !samePoll(e, &next) {
		w.trace("monitor: engine %s has %v", e.Name, x.modes)
		write(w, s, e, func(o *v1beta2.Engine) { *o = next })
	}
}

// exchange adds the replicas that an engine lacks, and removes unwanted ones, while one that stays is RW.
func (w *world) exchange(x *process, e *v1beta2.Engine) {
	wanted := e.Spec.ReplicaAddressMap
	good := false
	for name := range wanted {
		good = good || x.modes[name] == v1beta2.ReplicaModeRW
	}
	for _, name := range slices.Sorted(maps.Keys(x.modes)) {
		if _, stays := wanted[name]; !stays && good {
			mode := x.modes[name]
			delete(x.modes, name)
			if r := w.plane.find(kindReplica, name, w.replicaNode(name)); r != nil && r.opener == x {
				r.opener = nil
			}
			w.trace("data: engine %s drops %s", x.name, name)
			if mode == v1beta2.ReplicaModeRW && !x.usable() {
				w.violated("UPG-1: the last replica of engine %s is taken out", x.name)
				x.failed = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if x.modes[name] == "" && (w.v2() || e.Spec.Active) && w.opens(name, x) {
			x.modes[name] = v1beta2.ReplicaModeWO
			w.trace("data: engine %s begins to rebuild %s", x.name, name)
		}
	}
}

// rebuild ends a rebuild now and then: the replica now has the same data as the others.
func (w *world) rebuild(x *process) {
	version, found := noData, false
	for name, mode := range x.modes {
		if mode == v1beta2.ReplicaModeRW && w.serves(name, x) {
			version, found = w.plane.versions[w.data(name)], true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.modes)) {
		if found && x.modes[name] == v1beta2.ReplicaModeWO && w.serves(name, x) && (w.quiet || w.chance(0.5)) {
			x.modes[name], w.plane.versions[w.data(name)] = v1beta2.ReplicaModeRW, version
			delete(w.plane.givenUp, w.data(name))
			w.trace("data: engine %s has rebuilt %s", x.name, name)
		}
	}
}

// seen applies the result of a poll.
func (w *world) seen(e *v1beta2.Engine, x *process) {
	e.Status.ReplicaModeMap = maps.Clone(x.modes)
	e.Status.CurrentSize = e.Spec.VolumeSize
	if w.volume.now.Status.FrontendDisabled { // incomplete data must not be visible
		e.Status.LastRestoredBackup = e.Spec.RequestedBackupRestore
	}
	if e.Spec.RequestedDataSource != "" && e.Status.CloneStatus == nil {
		e.Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"r": {State: "complete"}}
	}
	asked, errAsked := time.Parse(time.RFC3339Nano, e.Spec.LookRequestedAt)
	polled, errPolled := time.Parse(time.RFC3339Nano, e.Status.LookedAt)
	if errAsked == nil && (errPolled != nil || polled.Before(asked)) {
		e.Status.LookedAt = w.now.UTC().Format(time.RFC3339Nano)
	}
}

func samePoll(a, b *v1beta2.Engine) bool {
	return maps.Equal(a.Status.ReplicaModeMap, b.Status.ReplicaModeMap) && a.Status.CurrentSize == b.Status.CurrentSize &&
		a.Status.LastRestoredBackup == b.Status.LastRestoredBackup && len(a.Status.CloneStatus) == len(b.Status.CloneStatus) &&
		a.Status.LookedAt == b.Status.LookedAt
}
