package snapshot

import (
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// TicketID is the ticket by which a Snapshot has its volume attached.
func TicketID(snapshot string) string { return v1beta2.TicketID(v1beta2.AttacherSnapshot, snapshot) }

// ticket is ours, or nil.
func (w World) ticket() *v1beta2.AttachmentTicket {
	if w.Attachment == nil {
		return nil
	}
	if t, ok := w.Attachment.Spec.AttachmentTickets[TicketID(w.Snapshot.Name)]; ok {
		return &t
	}
	return nil
}

// wanted is the ticket that this snapshot needs now; nil: none would help. A volume that has no good replica, or no node
// that could take it, cannot be attached.
func (w World) wanted() *v1beta2.AttachmentTicket {
	if w.Attachment == nil || w.Attachment.DeletionTimestamp != nil || w.Candidate == "" ||
		w.Volume.Status.Robustness == v1beta2.VolumeRobustnessFaulted {
		return nil
	}
	id := TicketID(w.Snapshot.Name)
	t := &v1beta2.AttachmentTicket{
		ID: id, Type: v1beta2.AttacherSnapshot, NodeID: w.Candidate,
		Parameters: map[string]string{
			v1beta2.TicketDisableFrontend: v1beta2.TicketValueAny,
			v1beta2.TicketOwnerKind:       "Snapshot", v1beta2.TicketOwnerName: w.Snapshot.Name, v1beta2.TicketOwnerUID: string(w.Snapshot.UID),
		},
	}
	switch old := w.ticket(); {
	case old == nil:
		t.Generation = w.Attachment.Status.AttachmentTicketStatuses[id].Generation + 1
	case same(*old, *t):
		t.Generation = old.Generation
	default:
		t.Generation = old.Generation + 1
	}
	return t
}

// same compares but for the generation.
func same(a, b v1beta2.AttachmentTicket) bool {
	return a.ID == b.ID && a.Type == b.Type && a.NodeID == b.NodeID && maps.Equal(a.Parameters, b.Parameters)
}

// attachProblem says why the volume is not attached for this snapshot.
func (w World) attachProblem() string {
	switch {
	case w.Attachment == nil:
		return "Volume " + w.Volume.Name + " has no VolumeAttachment yet; attach-controller makes it."
	case w.Volume.Status.Robustness == v1beta2.VolumeRobustnessFaulted:
		return "Volume " + w.Volume.Name + " is faulted: it has no good replica to attach with."
	case w.Candidate == "":
		return "No node with a good replica of volume " + w.Volume.Name + " can take it now."
	}
	answer := w.Attachment.Status.AttachmentTicketStatuses[TicketID(w.Snapshot.Name)]
	if reason := conditions.Reason(answer.Conditions, v1beta2.TicketSatisfied); refusals[reason] {
		return "Volume " + w.Volume.Name + " is not attached to node " + w.Candidate + " for it: " + reason + "; see the VolumeAttachment."
	}
	return "Volume " + w.Volume.Name + " is being attached for it."
}

// refusals are those answers to a ticket that a person should know; the others are on the way in.
var refusals = map[string]bool{
	v1beta2.ReasonAttachedWithIncompatibleParameters: true, v1beta2.ReasonAttachedElsewhere: true,
	v1beta2.ReasonLowerPriority: true, v1beta2.ReasonNodeUnknown: true, v1beta2.ReasonNodeNotReady: true,
	v1beta2.ReasonNodeUpgrading: true, v1beta2.ReasonDataLocality: true, v1beta2.ReasonTooManyTickets: true,
	v1beta2.ReasonVolumeFaulted: true, v1beta2.ReasonWaitingForShare: true,
}

// Attached tells that the volume is attached and its engine runs, so that work on snapshots can begin.
func (w World) Attached() bool {
	return w.running() && w.Volume.Status.State == v1beta2.VolumeStateAttached
}

// CanAttach tells that a volume may be attached to the node for work on its snapshots.
func CanAttach(node *v1beta2.Node) bool {
	return node != nil && !node.Spec.UpgradeRequested && conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady) &&
		conditions.Reason(node.Status.Conditions, v1beta2.NodeSchedulable) != v1beta2.ReasonKubernetesNodeCordoned
}
