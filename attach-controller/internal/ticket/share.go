package ticket

import "drover.dev/drover/shared/api/v1beta2"

// share combines the pods' tickets of an RWX volume into one, on the node of the share manager, and follows it. Another controller creates
// the share manager; until it has a node the ticket stays on its node, or has none.
func share(w World, _ []wish) []wish {
	if !w.shared() || !w.wantedByPods() {
		return nil
	}
	x := wish{attacher: v1beta2.AttacherShareManager, object: w.Volume.Name, frontend: v1beta2.TicketValueFalse}
	x.owner = Owner{Kind: KindShareManager, Name: w.Volume.Name}
	x.node = w.tickets()[x.id()].NodeID
	if w.ShareManager != nil {
		x.ownerUID = w.ShareManager.UID
		if at := w.ShareManager.Status.OwnerID; at != "" {
			x.node = at
		}
	}
	return []wish{x}
}

func (w World) wantedByPods() bool {
	for _, t := range w.tickets() {
		if t.Type == v1beta2.AttacherCSI {
			return true
		}
	}
	return false
}
