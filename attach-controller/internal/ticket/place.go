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
	if w.candidate(current) {
		return current
	}
	for _, name := range slices.Sorted(maps.Keys(w.Nodes)) {
		if w.candidate(name) {
			return name
		}
	}
	return ""
}

// candidate reports whether a node is ready, may take an attachment, and has a replica that can be read.
func (w World) candidate(name string) bool {
	node := w.Nodes[name]
	if node == nil || node.Spec.UpgradeRequested || v1beta2.IsNodeCordoned(node) ||
		!conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady) {
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
