package ticket

import (
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// place is row P: the node for background work whose ticket is now for current. It is the node where the volume is wanted anyhow; else it
// stays; else the first node by name that can do the work. Empty: no node can.
func (w World) place(current string) string {
	if at := w.Volume.Spec.NodeID; at != "" && !v1beta2.IsNodeDown(w.Nodes[at]) {
		return at
	}
	return w.first(current, w.candidate)
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
	node := w.Nodes[name]
	if node == nil || node.Spec.UpgradeRequested || !conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady) {
		return false
	}
	return slices.ContainsFunc(w.Replicas, func(r v1beta2.Replica) bool {
		return r.Spec.NodeID == name && v1beta2.IsReplicaReadable(&r, w.Replicas)
	})
}

// selectable reports whether the ticket of another owner could attach the volume, were it detached.
func (w World) selectable(t v1beta2.AttachmentTicket) bool {
	node := w.Nodes[t.NodeID]
	switch {
	case t.NodeID == "" || v1beta2.IsNodeDown(node) || node.Spec.UpgradeRequested:
		return false
	case t.Type == v1beta2.AttacherLonghornAPI && v1beta2.IsNodeCordoned(node):
		return false
	case t.Type == v1beta2.AttacherCSI && w.shared():
		return false
	}
	return true
}
