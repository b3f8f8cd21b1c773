package model

import "drover.dev/drover/shared/api/v1beta2"

// holds is the suspend state that a list shows of a frontend: a request that was answered once is not answered again after the frontend
// resumed.
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

// hold is im-monitor's part for a frontend whose I/O is to be suspended; it reports whether the frontend may move.
func (w *world) hold(f *v1beta2.EngineFrontend) bool {
	x := w.frontendOf(f)
	if x == nil || f.Spec.SuspendRequestedAt == "" || x.held {
		return x != nil
	}
	if f.Status.SuspendedAt != f.Spec.SuspendRequestedAt {
		w.trace("monitor: frontend %s suspends all I/O", x.name)
		x.held = true
	}
	return false
}

// letGo resumes the I/O of a frontend that leads to the engine in its spec.
func (w *world) letGo(f *v1beta2.EngineFrontend) {
	x := w.frontendOf(f)
	at := x != nil && x.target != nil && x.target.node == f.Spec.TargetIP && x.target.uuid == f.Spec.TargetPort
	if at && x.held && f.Spec.SuspendRequestedAt == "" {
		w.trace("monitor: frontend %s resumes I/O, to engine %s", x.name, x.target.name)
		x.held = false
	}
}

// frontendOf is the instance of a frontend that must run; nil if there is none, or it is not observable.
func (w *world) frontendOf(f *v1beta2.EngineFrontend) *process {
	if f == nil || f.Spec.DesireState != v1beta2.InstanceStateRunning || !w.reachable(f.Spec.NodeID) {
		return nil
	}
	return w.plane.find(kindFrontend, f.Name, f.Spec.NodeID)
}
