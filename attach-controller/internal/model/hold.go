package model

import "drover.dev/drover/shared/api/v1beta2"

// holds is what a list shows of a frontend's I/O: a request that was answered once is not answered again when it is not held any more.
func (i instance) holds(x *process) instance {
	switch {
	case x.kind != kindFrontend:
	case i.asked == "":
		i.answered = ""
	case x.held && !x.moves:
		i.answered = i.asked
	}
	if x.held {
		i.state = v1beta2.InstanceStateSuspended
	}
	return i
}

// hold is im-monitor's part for a frontend whose I/O shall be held; it tells whether the frontend may move.
func (w *world) hold(f *v1beta2.EngineFrontend) bool {
	x := w.frontendOf(f)
	if x == nil || f.Spec.SuspendRequestedAt == "" || x.held {
		return x != nil
	}
	if f.Status.SuspendedAt != f.Spec.SuspendRequestedAt {
		w.trace("monitor: frontend %s holds all I/O", x.name)
		x.held = true
	}
	return false
}

// letGo lets the I/O of a frontend go on that is where its spec says.
func (w *world) letGo(f *v1beta2.EngineFrontend) {
	x := w.frontendOf(f)
	at := x != nil && x.target != nil && x.target.node == f.Spec.TargetIP && x.target.uuid == f.Spec.TargetPort
	if at && x.held && f.Spec.SuspendRequestedAt == "" {
		w.trace("monitor: frontend %s lets I/O go on, to engine %s", x.name, x.target.name)
		x.held = false
	}
}

// frontendOf is what runs for a frontend that shall run; nil where nothing does, or nobody can tell.
func (w *world) frontendOf(f *v1beta2.EngineFrontend) *process {
	if f == nil || f.Spec.DesireState != v1beta2.InstanceStateRunning || !w.reachable(f.Spec.NodeID) {
		return nil
	}
	return w.plane.find(kindFrontend, f.Name, f.Spec.NodeID)
}
