package model

import (
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// retarget simulates the upgrade of a node: the target of an attached volume is wanted on another node, or on its original node.
func (w *world) retarget(node string) {
	v := w.volume.now
	if v.Status.State != v1beta2.VolumeStateAttached || w.rng.IntN(3) == 0 {
		node = ""
	}
	if v.Spec.TargetNodeID != node {
		w.trace("an upgrade wants the target on %q", node)
		write(w, &w.volume, nil, func(v *v1beta2.Volume) { v.Spec.TargetNodeID = node })
	}
}

// disturbMove relocates a target, or stops its node, or returns that node.
func (w *world) disturbMove(n *node) {
	at := w.node(w.volume.now.Status.CurrentTargetNodeID)
	switch {
	case at == nil || w.chance(0.4):
		w.retarget(n.name)
	case at.reachable && w.chance(0.5):
		w.retarget(at.name)
	default:
		w.fail(at)
	}
}

// missed drops from the engines on a partitioned node the replicas that they could not reach meanwhile, with or without writes.
func (w *world) missed(n *node) {
	for _, e := range w.live() {
		for _, name := range slices.Sorted(maps.Keys(e.modes)) {
			if w.moves && e.node == n.name && !w.serves(name, e) && e.modes[name] != v1beta2.ReplicaModeERR {
				w.drop(e, name)
			}
		}
	}
}

// release is an upgrade's step for a volume that its user detached: it clears the wanted target.
func (w *world) release() {
	if v := w.volume.now; v.Spec.TargetNodeID != "" && v.Status.State != v1beta2.VolumeStateAttached {
		w.retarget("")
	}
}

func (w *world) chanceOf(may bool, p float64) bool { return may && w.chance(p) }

// connect is im-monitor's part for a running frontend: it switches to the engine in its spec, once that serves.
func (w *world) connect(f *v1beta2.EngineFrontend) {
	if f == nil || f.Spec.DesireState != v1beta2.InstanceStateRunning || !w.reachable(f.Spec.NodeID) {
		return
	}
	x := w.plane.find(kindFrontend, f.Name, f.Spec.NodeID)
	e := w.goesTo(f, x)
	if e == nil {
		return
	}
	w.comesBack(x)
	w.trace("monitor: frontend %s switches to engine %s on %s", x.name, e.name, e.node)
	w.checkConnect(e)
	if x.target != nil {
		w.checkGivenUp(e)
	}
	x.target = e
}

// goesTo is the engine to which a frontend is about to switch; nil: none.
func (w *world) goesTo(f *v1beta2.EngineFrontend, x *process) *process {
	if x == nil {
		return nil
	}
	for _, e := range w.live() {
		if e.node == f.Spec.TargetIP && e.uuid == f.Spec.TargetPort && x.target != e && w.linked(x.node, e.node) && w.saysRunning(e) {
			return e
		}
	}
	return nil
}

// comesBack returns the node that a frontend is about to leave at this moment, so that I/O gets to its target once more.
func (w *world) comesBack(frontend *process) {
	if frontend.target == nil || w.quiet {
		return
	}
	if n := w.node(frontend.target.node); n != nil && !n.reachable && n.alive && w.chance(0.5) {
		w.giveBack(n)
		w.io()
	}
}

// saysRunning reports whether the object of an engine shows it as running, and wants it running.
func (w *world) saysRunning(x *process) bool {
	return slices.ContainsFunc(current(w.engines), func(e *v1beta2.Engine) bool {
		i := ofEngine(e)
		return e.Name == x.name && e.Spec.NodeID == x.node && i.wanted && i.state == v1beta2.InstanceStateRunning && !i.concluded
	})
}

// checkConnect: reads and writes through a frontend find what was acknowledged before.
func (w *world) checkConnect(x *process) {
	for name, mode := range x.modes {
		if mode != v1beta2.ReplicaModeRW || !w.serves(name, x) {
			continue
		}
		for _, r := range current(w.replicas) {
			if w.plane.versions[w.data(r.Name)] > w.plane.versions[w.data(name)] && w.reachable(r.Spec.NodeID) &&
				!w.plane.givenUp[w.data(r.Name)] && healthy(r) {
				w.violated("DATA: a frontend switches to an engine with older data than another replica has")
			}
		}
	}
}

// checkGivenUp: writes acknowledged since the start of a fail-over are in the engine to which the frontend switches.
func (w *world) checkGivenUp(x *process) {
	for name, mode := range x.modes {
		for r := range w.plane.givenUp {
			has := w.plane.versions[w.data(r)]
			if mode == v1beta2.ReplicaModeRW && has > w.plane.markedAt[w.data(r)] && has > w.plane.versions[w.data(name)] {
				w.violated("DATA: what a target acknowledged after the fail-over began is lost")
			}
		}
	}
}

// ledTo is im-monitor's last check before it ends an engine: a frontend that must run still leads to it. [UPG-3]
func (w *world) ledTo(x *process) bool {
	for _, f := range current(w.frontends) {
		y := w.plane.find(kindFrontend, f.Name, f.Spec.NodeID)
		if x.kind == kindEngine && !x.failed && y != nil && y.target == x && f.Spec.DesireState == v1beta2.InstanceStateRunning &&
			w.reachable(f.Spec.NodeID) {
			return true
		}
	}
	return false
}

// endsMoved is UPG-4: the target of an attached volume is on the wanted node, alone, if that is possible: an engine on a node that is down
// ends when that is back.
func (w *world) endsMoved() string {
	v := w.volume.now
	wished := v.Spec.TargetNodeID
	if wished == "" {
		wished = v.Spec.NodeID
	}
	if !w.moves || v.Spec.DisableFrontend || v.Status.State != v1beta2.VolumeStateAttached || !w.reachable(v.Spec.NodeID) ||
		!w.reachable(wished) || w.successorLost() {
		return ""
	}
	if v.Status.RestoreRequired || v.Status.CloneStatus.State == v1beta2.CloneInitiated {
		return "" // it stays until its data is complete
	}
	if v.Status.CurrentMigrationNodeID != "" {
		return "" // it runs on two nodes until a pod leaves
	}
	engines := slices.DeleteFunc(current(w.engines), func(e *v1beta2.Engine) bool {
		return e.Spec.DesireState == v1beta2.InstanceStateStopped && !w.reachable(e.Spec.NodeID)
	})
	if len(engines) != 1 || engines[0].Spec.NodeID != wished {
		return "UPG-4: the target of a volume is not where it is wanted"
	}
	return ""
}
