package model

import (
	"maps"
	"slices"
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// instance is what Engine, EngineFrontend and Replica have in common for im-monitor.
type instance struct {
	kind, name, node  string
	wanted, deleting  bool
	state             string
	starting, started bool
	concluded         bool // the condition NodeDown
	uuid              string
	port              int
	// targetIP and targetPort are those of the engine that a frontend leads to.
	targetIP   string
	targetPort int
	// asked and answered are the request to suspend a frontend's I/O, and the one that was answered last.
	asked, answered string
}

func ofEngine(e *v1beta2.Engine) instance {
	s := e.Status
	return instance{kindEngine, e.Name, e.Spec.NodeID, e.Spec.DesireState == v1beta2.InstanceStateRunning, e.DeletionTimestamp != nil,
		s.CurrentState, s.Starting, s.Started, conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown), s.UUID, s.Port, "", 0, "", ""}
}

func ofFrontend(f *v1beta2.EngineFrontend) instance {
	s := f.Status
	return instance{kindFrontend, f.Name, f.Spec.NodeID, f.Spec.DesireState == v1beta2.InstanceStateRunning, f.DeletionTimestamp != nil,
		s.CurrentState, s.Starting, s.Started, conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown), s.UUID, s.Port, s.TargetIP,
		s.TargetPort,
		f.Spec.SuspendRequestedAt, s.SuspendedAt}
}

func ofReplica(r *v1beta2.Replica) instance {
	s := r.Status
	return instance{kindReplica, r.Name, r.Spec.NodeID, r.Spec.DesireState == v1beta2.InstanceStateRunning, r.DeletionTimestamp != nil,
		s.CurrentState, s.Starting, s.Started, conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown), s.UUID, s.Port, "", 0, "", ""}
}

// begun reports whether an instance may run by the status.
func (i instance) begun() bool {
	return i.starting || i.started || i.state != "" && i.state != v1beta2.InstanceStateStopped
}

// live reports whether it may do input and output; an instance that is concluded to be stopped is fenced.
func (i instance) live() bool { return i.begun() }

// supervised reports whether it was observed since it was requested: it is not started again.
func (i instance) supervised() bool {
	return i.started || i.state == v1beta2.InstanceStateRunning || i.state == v1beta2.InstanceStateError
}

func (i instance) in(state string) instance {
	i.state = state
	return i
}

func (i instance) stopped(concluded bool) instance {
	i.state, i.starting, i.started, i.uuid, i.port, i.concluded = v1beta2.InstanceStateStopped, false, false, "", 0, concluded
	i.targetIP, i.targetPort, i.answered = "", 0, ""
	return i
}

func (i instance) failed() instance {
	i.state, i.starting, i.started = v1beta2.InstanceStateError, false, true
	return i
}

func (i instance) shows(x *process) instance {
	if x.failed {
		i.concluded = false
		return i.failed()
	}
	x.reported = true
	i.state, i.starting, i.started, i.concluded = v1beta2.InstanceStateRunning, false, true, false
	i.uuid, i.port = strconv.Itoa(x.uuid), 1
	if x.kind == kindEngine {
		i.port = x.uuid
	}
	if x.target != nil {
		i.targetIP, i.targetPort = x.target.node, x.target.uuid
	}
	return i.holds(x)
}

func (i instance) conditions() []v1beta2.Condition {
	if !i.concluded {
		return nil
	}
	return []v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeDown}}
}

// superviseEngine is im-monitor's part for an engine: its status comes from the lists, and its spec determines the calls.
func (w *world) superviseEngine(s *slot[v1beta2.Engine]) {
	supervise(w, s, ofEngine, func(e *v1beta2.Engine, i instance) {
		if i.starting && !e.Status.Starting { // a run begins: the modes of the run before do not count for it
			e.Status.ReplicaModeMap = nil
		}
		e.Status.CurrentState, e.Status.Starting, e.Status.Started, e.Status.UUID = i.state, i.starting, i.started, i.uuid
		e.Status.Port, e.Status.StorageIP, e.Status.Conditions = i.port, i.node, i.conditions()
	})
}

func (w *world) superviseFrontend(s *slot[v1beta2.EngineFrontend]) {
	if x := w.frontendOf(s.now); x != nil {
		x.moves = w.goesTo(s.now, x) != nil
	}
	supervise(w, s, ofFrontend, func(f *v1beta2.EngineFrontend, i instance) {
		f.Status.CurrentState, f.Status.Starting, f.Status.Started, f.Status.UUID = i.state, i.starting, i.started, i.uuid
		f.Status.Port, f.Status.StorageIP, f.Status.Conditions = i.port, i.node, i.conditions()
		f.Status.TargetIP, f.Status.TargetPort, f.Status.SuspendedAt = i.targetIP, i.targetPort, i.answered
	})
	if w.hold(s.now) {
		w.connect(s.now)
		w.letGo(s.now)
	} // which is observed the next time
}

func (w *world) superviseReplica(s *slot[v1beta2.Replica]) {
	supervise(w, s, ofReplica, func(r *v1beta2.Replica, i instance) {
		r.Status.CurrentState, r.Status.Starting, r.Status.Started, r.Status.UUID = i.state, i.starting, i.started, i.uuid
		r.Status.Port, r.Status.StorageIP, r.Status.Conditions = i.port, i.node, i.conditions()
	})
}

func supervise[T any](w *world, s *slot[T], of func(*T) instance, into func(*T, instance)) {
	if s.now == nil || of(s.now).node == "" {
		return
	}
	report := func(i instance) bool {
		if i == of(s.now) {
			return true
		}
		w.trace("monitor: %s %s %s concluded=%v", i.kind, i.name, i.state, i.concluded)
		return write(w, s, nil, func(o *T) { into(o, i) })
	}
	i := of(s.now)
	switch {
	case i.wanted && i.supervised():
		report(w.watch(i))
	case i.wanted:
		w.bringUp(i, report)
	default:
		w.bringDown(i, report)
	}
}

// watch reports the state of a running instance. It is never started again: that takes a stop first.
func (w *world) watch(i instance) instance {
	if !w.reachable(i.node) {
		if i.state == v1beta2.InstanceStateError {
			return i
		}
		return i.in(v1beta2.InstanceStateUnknown)
	}
	if x := w.plane.find(i.kind, i.name, i.node); x != nil {
		return i.shows(x)
	}
	return i.failed()
}

// bringUp records the start, and starts the instance.
func (w *world) bringUp(i instance, report func(instance) bool) {
	x := w.plane.find(i.kind, i.name, i.node)
	switch {
	case i.deleting && i.kind != kindReplica || !w.reachable(i.node) || w.down(i.node):
		if !i.begun() {
			report(i.in(v1beta2.InstanceStateStopped))
		}
		return
	case x != nil && i.starting:
		report(i.shows(x))
		return
	case x != nil: // of an earlier run
		w.trace("monitor: ends the earlier %s %s on %s", i.kind, i.name, i.node)
		w.end(x)
		return
	case !w.mayStart(i):
		return
	}
	ahead := i.in(v1beta2.InstanceStateStarting)
	ahead.starting, ahead.concluded = true, false
	if !report(ahead) {
		return
	}
	w.start(ahead)
}

// bringDown ends an instance, and reports stopped on evidence only: it is not listed, or its node is down and it is fenced.
func (w *world) bringDown(i instance, report func(instance) bool) {
	x := w.plane.find(i.kind, i.name, i.node)
	switch {
	case w.reachable(i.node) && x != nil && w.ledTo(x): // the stop was decided before the frontend moved
	case w.reachable(i.node) && x != nil:
		i.concluded = false
		if i.state == "" || i.state == v1beta2.InstanceStateStopped { // its status may wrongly show that it does not run
			i.state = v1beta2.InstanceStateStopping
		}
		if report(i) && w.lastPoll(x) {
			w.trace("monitor: ends %s %s on %s", i.kind, i.name, i.node)
			w.end(x)
		}
	case w.reachable(i.node):
		report(i.stopped(false))
	case !i.begun():
	case w.down(i.node) && w.cutOff():
		report(i.stopped(true))
	default:
		report(i.in(v1beta2.InstanceStateUnknown))
	}
}

// cutOff reports whether every replica on a node in service is observed to be stopped.
func (w *world) cutOff() bool {
	for _, r := range current(w.replicas) {
		if i := ofReplica(r); !w.down(i.node) && (i.wanted || i.begun() || i.concluded) {
			return false
		}
	}
	return true
}

// mayStart is the last check before a start: never an engine while another one of the volume may be live, unless the volume migrates; then
// only over replicas that the live one has in mode RW in a poll of this moment (M7).
func (w *world) mayStart(i instance) bool {
	switch i.kind {
	case kindEngine:
		return w.mayStartEngine(i)
	case kindFrontend:
		return w.mayStartFrontend(i)
	}
	return true
}

func (w *world) mayStartEngine(i instance) bool {
	me := w.engineNamed(i.name)
	v := w.volume.now.Spec
	second := !me.Spec.Active && (w.v2() && (i.node == v.TargetNodeID || i.node == v.NodeID) || w.migrating())
	return w.otherInstancesPermit(i, second) && w.otherEnginesPermit(me, second)
}

// otherInstancesPermit ends an instance of the engine on the wrong node first, and waits for engines that no object names.
func (w *world) otherInstancesPermit(i instance, second bool) bool {
	for _, x := range w.plane.running { // an instance on the wrong node ends first
		if x.kind == kindEngine && x.name == i.name && x.node != i.node && w.reachable(x.node) {
			w.end(x)
			return false
		}
		if x.kind == kindEngine && w.reachable(x.node) && !second && w.engineNamed(x.name) == nil {
			return false
		}
	}
	return true
}

// otherEnginesPermit is M7.
func (w *world) otherEnginesPermit(me *v1beta2.Engine, second bool) bool {
	for _, e := range current(w.engines) {
		if e.Name == me.Name || !ofEngine(e).live() {
			continue
		}
		if !second || w.migrating() && !w.allRW(me, e) || !w.migrating() && !saidRW(me, e) {
			return false
		}
	}
	return true
}

func (w *world) migrating() bool {
	v := w.volume.now
	return v.Spec.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != ""
}

func (w *world) engineNamed(name string) *v1beta2.Engine {
	for _, e := range current(w.engines) {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// allRW polls the running engine for the replicas that another one is to open.
func (w *world) allRW(second, first *v1beta2.Engine) bool {
	x := w.plane.find(kindEngine, first.Name, first.Spec.NodeID)
	if x == nil || !w.reachable(x.node) {
		return false
	}
	for name := range second.Spec.ReplicaAddressMap {
		if !w.v2() && x.modes[name] != "" {
			w.violated("K1: a second engine is to open the replica processes of the first one")
			return false
		}
		has := slices.ContainsFunc(slices.Sorted(maps.Keys(x.modes)), func(other string) bool {
			return w.data(other) == w.data(name) && x.modes[other] == v1beta2.ReplicaModeRW && w.serves(other, x)
		})
		if !has {
			return false
		}
	}
	return true
}

// saidRW reports whether an engine has the replicas that another one is to open in mode RW, by its last report.
func saidRW(second, first *v1beta2.Engine) bool {
	for name := range second.Spec.ReplicaAddressMap {
		if first.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW {
			return false
		}
	}
	return true
}

func (w *world) mayStartFrontend(i instance) bool {
	second, others := false, false
	for _, f := range current(w.frontends) {
		switch {
		case f.Name == i.name && f.Spec.TargetPort == 0:
			return false
		case f.Name == i.name:
			second = !f.Spec.Active
		case ofFrontend(f).live():
			others = true
		}
	}
	return second || !others
}
