package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// leftover ends an instance that another node still runs under the object's name: the node was partitioned while the volume moved, and came
// back. It is for servers that report no UUID: without a UUID there is no Orphan. A frontend ends first, then the engine that it leads
// to, then the replicas that the engine maps, whose data stays.
//
// It ends only an instance that is positively not the object's own: the object runs, on its node, on the instance manager that its status
// names, and that instance manager lists it. Never the instance of a second engine or frontend, which belongs to a migration or a
// switch-over.
func leftover(w World, v Verdict) Verdict {
	if v.Reason != ReasonDone || v.Call.Op != OpNone || !w.settledHere(v.Status) {
		return v
	}
	for i := range w.Elsewhere {
		p := &w.Elsewhere[i]
		switch {
		case !w.leftBehind(p):
		case p.UsedBy != "":
			v.Reason = ReasonLeftover
			v.Message = fmt.Sprintf("%s still lists an earlier run of it, which %s uses; that other instance ends first.", p.InstanceManager,
				p.UsedBy)
		default:
			call := deletion(w, p)
			call.Poll = false // the engine that serves is another one
			return calling(w, v.Status, call)
		}
	}
	return v
}

// settledHere reports whether the object's own instance runs where spec and status name it.
func (w World) settledHere(s Status) bool {
	e := w.entry()
	return w.v2() && (w.replica() || w.Object.Active) && !w.Object.Deleting && e != nil && e.State == v1beta2.InstanceStateRunning &&
		s.State == v1beta2.InstanceStateRunning && w.Status.State == v1beta2.InstanceStateRunning &&
		w.Status.InstanceManager == w.Here.InstanceManager && w.Here.Node == w.Object.NodeID
}

// leftBehind reports whether an instance manager of another node lists the name live and without a UUID. A place with the same address is
// the same server.
func (w World) leftBehind(p *Place) bool {
	return p.Known && !p.Out && p.Node != w.Here.Node && p.Address != w.Here.Address && p.Entry != nil && p.Entry.UUID == "" &&
		p.Entry.Type == w.Object.Kind && lives(p.Entry.State)
}
