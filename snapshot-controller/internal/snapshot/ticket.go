package snapshot

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func (w World) request() Request {
	return Request{
		Attachment: w.Attachment, Volume: w.Volume, Node: w.Candidate,
		Type: v1beta2.AttacherSnapshot, ID: TicketID(w.Snapshot.Name), OwnerKind: "Snapshot", Owner: w.Snapshot,
	}
}

// wanted is the ticket that this snapshot needs now; nil: none would help.
func (w World) wanted() *v1beta2.AttachmentTicket { return Ticket(w.request()) }

// attachProblem explains why the volume is not attached for this snapshot.
func (w World) attachProblem() string { return AttachProblem(w.request()) }

// Request is the wish of an object to have a volume attached. What does not exist is nil.
type Request struct {
	Attachment *v1beta2.VolumeAttachment
	Volume     *v1beta2.Volume
	// Node is the one to attach it to; empty: no node can.
	Node string
	// Type and ID are the ticket's.
	Type, ID string
	// Owner is the object that the ticket ends with, and OwnerKind its kind.
	OwnerKind string
	Owner     metav1.Object
}

// Ticket is what an object's wish for its volume comes to; nil: none would help. A volume that has no good replica, or no
// node that could take it, cannot be attached.
func Ticket(r Request) *v1beta2.AttachmentTicket {
	if r.Attachment == nil || r.Attachment.DeletionTimestamp != nil || r.Node == "" ||
		r.Volume.Status.Robustness == v1beta2.VolumeRobustnessFaulted {
		return nil
	}
	t := &v1beta2.AttachmentTicket{
		ID: r.ID, Type: r.Type, NodeID: r.Node,
		Parameters: map[string]string{
			v1beta2.TicketDisableFrontend: v1beta2.TicketValueAny,
			v1beta2.TicketOwnerKind:       r.OwnerKind, v1beta2.TicketOwnerName: r.Owner.GetName(),
			v1beta2.TicketOwnerUID: string(r.Owner.GetUID()),
		},
	}
	switch old, held := r.Attachment.Spec.AttachmentTickets[r.ID]; {
	case !held:
		t.Generation = r.Attachment.Status.AttachmentTicketStatuses[r.ID].Generation + 1
	case SameTicket(old, *t):
		t.Generation = old.Generation
	default:
		t.Generation = old.Generation + 1
	}
	return t
}

// SameTicket compares but for the generation.
func SameTicket(a, b v1beta2.AttachmentTicket) bool {
	return a.ID == b.ID && a.Type == b.Type && a.NodeID == b.NodeID && maps.Equal(a.Parameters, b.Parameters)
}

// AttachProblem explains why a volume is not attached for who asks for it.
func AttachProblem(r Request) string {
	switch {
	case r.Attachment == nil:
		return "Volume " + r.Volume.Name + " has no VolumeAttachment yet; attach-controller makes it."
	case r.Volume.Status.Robustness == v1beta2.VolumeRobustnessFaulted:
		return "Volume " + r.Volume.Name + " is faulted: it has no good replica to attach with; see its condition Faulted."
	case r.Node == "":
		return "No node with a good replica of volume " + r.Volume.Name +
			" can take it now; see its Replicas, and the condition Ready of their Nodes."
	}
	answer := r.Attachment.Status.AttachmentTicketStatuses[r.ID]
	if reason := conditions.Reason(answer.Conditions, v1beta2.TicketSatisfied); refusals[reason] {
		return "Volume " + r.Volume.Name + " is not attached to node " + r.Node + " for it: " + reason + "; see the VolumeAttachment."
	}
	return "Volume " + r.Volume.Name + " is being attached for it."
}

// refusals are those answers to a ticket that a person should know; the others are on the way in.
var refusals = map[string]bool{
	v1beta2.ReasonAttachedWithIncompatibleParameters: true, v1beta2.ReasonAttachedElsewhere: true,
	v1beta2.ReasonLowerPriority: true, v1beta2.ReasonWaitingForData: true, v1beta2.ReasonNodeUnknown: true, v1beta2.ReasonNodeNotReady: true,
	v1beta2.ReasonNodeUpgrading: true, v1beta2.ReasonDataLocality: true, v1beta2.ReasonTooManyTickets: true,
	v1beta2.ReasonVolumeFaulted: true, v1beta2.ReasonWaitingForShare: true,
}

// Attached reports whether the volume is attached and its engine runs, so that work on snapshots can begin.
func (w World) Attached() bool {
	return w.running() && w.Volume.Status.State == v1beta2.VolumeStateAttached
}

// CanAttach reports whether a volume may be attached to the node for work on its snapshots.
func CanAttach(node *v1beta2.Node) bool {
	return node != nil && !node.Spec.UpgradeRequested && conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady) &&
		!v1beta2.IsNodeCordoned(node)
}
