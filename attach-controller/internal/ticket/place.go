package ticket

import (
	"maps"
	"slices"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// place returns the node for the volume's own work (row P); current is the node of its ticket now. The work goes to the node that the
// volume is wanted on anyhow, even if that node is down while a user holds the volume there: the work is no reason to take it from the
// user. Otherwise it goes where a user waits for the volume; otherwise it stays; otherwise it goes to the first node by name that can do
// it. Empty: no node can.
func (w World) place(current string) string {
	if at := w.Volume.Spec.NodeID; at != "" && (!v1beta2.IsNodeDown(w.Nodes[at]) || w.usedOn(at)) {
		return at
	}
	if at := w.waitedForOn(); at != "" {
		return at
	}
	return w.first(current, w.candidate)
}

// isForeignUsers reports whether a ticket is a user's, and another owner wrote it: our own ticket for a share moves or ends by this
// verdict.
func isForeignUsers(id string, t v1beta2.AttachmentTicket) bool { return isUsers(t) && !ours(id, t) }

// usedOn reports whether a user's ticket wants the volume on a node, with the frontend that the volume has.
func (w World) usedOn(node string) bool {
	for id, t := range w.tickets() {
		if isForeignUsers(id, t) && t.NodeID == node && !v1beta2.WantsShare(w.Volume, t.Type) &&
			attach.Matches(t, w.Volume.Spec.DisableFrontend) {
			return true
		}
	}
	return false
}

// waitedForOn returns the node of the user who gets the volume next; empty: no user waits on a node that could take it now.
func (w World) waitedForOn() string {
	if !slices.ContainsFunc(w.Replicas, func(r v1beta2.Replica) bool { return v1beta2.IsReplicaReadable(&r, w.Replicas) }) {
		return ""
	}
	strictLocal := w.Volume.Spec.DataLocality == v1beta2.DataLocalityStrictLocal
	var users []v1beta2.AttachmentTicket
	for id, t := range w.tickets() {
		if t.ID = id; isForeignUsers(id, t) && w.selectable(t) && w.ready(t.NodeID) && (!strictLocal || w.serves(t.NodeID)) {
			users = append(users, t)
		}
	}
	if len(users) == 0 {
		return ""
	}
	return slices.MinFunc(users, attach.Compare).NodeID
}

// cordonedPlace is the cordoned node where a volume is attached whose replicas are all on nodes that are emptied: the drain waits for the
// engine, which ends once they have left. Empty: no node can.
func (w World) cordonedPlace(current string) string { return w.first(current, w.serves) }

// first is the node of now if it is suitable, else the first by name that is; empty: none is.
func (w World) first(current string, suitable func(name string) bool) string {
	if suitable(current) {
		return current
	}
	for _, name := range slices.Sorted(maps.Keys(w.Nodes)) {
		if suitable(name) {
			return name
		}
	}
	return ""
}

// candidate reports whether a node may take an attachment for background work.
func (w World) candidate(name string) bool {
	return !v1beta2.IsNodeCordoned(w.Nodes[name]) && w.serves(name)
}

// serves reports whether a node is ready, is not being upgraded, and has a replica that can be read.
func (w World) serves(name string) bool {
	return w.ready(name) && slices.ContainsFunc(w.Replicas, func(r v1beta2.Replica) bool {
		return r.Spec.NodeID == name && v1beta2.IsReplicaReadable(&r, w.Replicas)
	})
}

// ready reports whether a node is ready, and is not being upgraded.
func (w World) ready(name string) bool {
	node := w.Nodes[name]
	return node != nil && !node.Spec.UpgradeRequested && conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady)
}

// selectable reports whether the ticket of another owner could attach the volume, were it detached.
func (w World) selectable(t v1beta2.AttachmentTicket) bool {
	node := w.Nodes[t.NodeID]
	switch {
	case t.NodeID == "" || v1beta2.IsNodeDown(node) || node.Spec.UpgradeRequested:
		return false
	case t.Type == v1beta2.AttacherLonghornAPI && v1beta2.IsNodeCordoned(node):
		return false
	case v1beta2.WantsShare(w.Volume, t.Type):
		return false
	}
	return true
}
