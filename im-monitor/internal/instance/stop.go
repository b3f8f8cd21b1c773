package instance

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// stop ends the instance. Stopped is reported on evidence only: the list shows it stopped (v1, v2 replica), its absence is proven, or its
// node is out and it is fenced.
func stop(w World) Verdict {
	entry := w.entry()
	switch {
	case entry != nil && w.down():
		return conclude(w, entry)
	case entry != nil:
		return end(w, w.Here)
	case w.here() >= 0:
		return end(w, &w.Elsewhere[w.here()])
	case w.neverBegan(), w.Here != nil && w.Here.Absent:
		return settle(w)
	case w.down():
		return conclude(w, nil)
	case w.Here == nil, w.managerGone() && !w.frontend():
		return settle(w)
	case !w.Here.Known && w.Status.Begun():
		return blind(w)
	case !w.Here.Known:
		return keep(w, ReasonUnknown, "")
	}
	v := keep(w, ReasonUnproven, fmt.Sprintf("%s does not list it; one list is no proof.", w.Here.InstanceManager))
	if len(w.Here.Unloaded) > 0 {
		v = keep(w, ReasonDiskNotLoaded, unloaded(w.Here))
	}
	v.ExpectAbsence = true
	return v
}

// neverBegan reports whether nothing was begun, as far as the status reports, and nothing else is known.
func (w World) neverBegan() bool {
	return !w.Status.Begun() && (w.Status.State == v1beta2.InstanceStateStopped || w.Object.NodeID == "" || w.Here == nil || w.Here.Known)
}

// managerGone reports whether the instance manager that ran the instance no longer exists and left no pod, or has no pod.
func (w World) managerGone() bool { return w.HereGone || !w.Here.Known && w.Here.PodMissing }

// here is another instance manager of the same node that lists the name live; -1 is none. Package orphan handles those of other nodes.
func (w World) here() int {
	return slices.IndexFunc(w.Elsewhere, func(p Place) bool {
		return p.Known && p.Entry != nil && p.Node == w.Node.Name && lives(p.Entry.State)
	})
}

func (w World) down() bool { return w.Node.Out() }

// settle reports stopped. A concluded state stays concluded until the instance manager is listed again.
func settle(w World) Verdict {
	concluded := w.Status.NodeDown != "" && w.Status.State == v1beta2.InstanceStateStopped
	switch {
	case concluded && w.down():
		return Verdict{Status: stopped(w.Node.reason()), Reason: ReasonDone}
	case concluded && w.Here != nil && !w.Here.Known: // the node is back, but its list was not read yet
		return Verdict{Status: stopped(w.Status.NodeDown), Reason: ReasonDone}
	}
	return Verdict{Status: stopped(""), Reason: ReasonDone}
}

// end requests the deletion of a listed instance, and waits for it.
func end(w World, p *Place) Verdict {
	switch e := p.Entry; {
	case e.State == v1beta2.InstanceStateStopped && (w.replica() || !w.v2()):
		return settle(w)
	case ending(w, e):
		return endAgain(w, p, endingVerdict(w))
	case w.MayUse != "":
		return inUse(w)
	case w.LedBy != "" && e.State == v1beta2.InstanceStateRunning:
		// The object was stopped before the frontend was known to lead elsewhere. [UPG-3]
		return keep(w, ReasonLed, fmt.Sprintf("Frontend %s still leads to it.", w.LedBy))
	}
	status := w.Status
	status.NodeDown = ""
	if status.State == v1beta2.InstanceStateStopped || status.State == "" {
		// Other controllers may take it as stopped: that was concluded while its node was out, or it started late.
		status = Status{State: v1beta2.InstanceStateStopping, InstanceManager: p.InstanceManager}
	}
	call := deletion(w, p)
	call.Out = w.down()
	return calling(w, status, call)
}

// inUse waits for the end of an engine that no object accounts for, as after an earlier state of etcd was restored: a replica that ends
// before the engine lacks later writes, and counts as healthy all the same.
func inUse(w World) Verdict {
	return keep(w, ReasonOtherLive, fmt.Sprintf("%s runs although no object shows it, and may use this replica: it ends first. If it has no "+
		"object, delete its Orphan.", w.MayUse))
}

// endAgain waits with a verdict for an instance that is ending, and requests the deletion of a v1 process again that takes too long.
// Further requests follow after growing pauses, as for every call.
func endAgain(w World, p *Place, v Verdict) Verdict {
	if w.v2() || p != w.Here || w.TransientSince.IsZero() {
		return v
	}
	if due := w.TransientSince.Add(w.Settings.StuckEnding); due.After(w.Now) {
		v.At = due
		return v
	}
	call := deletion(w, p)
	call.Out = w.down()
	return calling(w, v.Status, call)
}

func endingVerdict(w World) Verdict {
	v := keep(w, ReasonChanging, "It is ending.")
	if w.Status.Begun() {
		v.Status.State = v1beta2.InstanceStateStopping
	}
	return v
}

// conclude reports stopped for an instance on a node that is out, once every replica of the volume on a node in service is stopped: an
// instance that still runs there can write to no replica that counts, and ends when the node is back. Until then an instance that is still
// listed is deleted as usual.
func conclude(w World, entry *Entry) Verdict {
	running := w.Peers.running()
	switch {
	case w.Status.NodeDown != "" && w.Status.State == v1beta2.InstanceStateStopped && !w.Status.Begun():
		return settle(w)
	case w.Peers.Read && running == "":
		return Verdict{Status: stopped(w.Node.reason()), Reason: ReasonDone,
			Message: fmt.Sprintf("Node %s is out, and every replica in service is stopped.", w.Node.Name)}
	case entry != nil:
		return end(w, w.Here)
	}
	v := keep(w, ReasonNotCutOff, fmt.Sprintf("Node %s is out; %s is not stopped yet.", w.Node.Name, running))
	if w.Status.Begun() {
		v.Status.State = v1beta2.InstanceStateUnknown
	}
	return v
}

// running returns a replica on a node in service that is not known to be stopped.
func (p Peers) running() string {
	for _, r := range p.Replicas {
		if r.On && (r.Wanted || r.Begun || r.NodeDown || r.State != v1beta2.InstanceStateStopped && r.State != "") {
			return "replica " + r.Name
		}
	}
	return ""
}

func (n Node) reason() string {
	if n.Down {
		return v1beta2.ReasonNodeDown
	}
	return v1beta2.ReasonOutOfService
}
