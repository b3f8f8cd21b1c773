package backup

import (
	"fmt"
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// TicketID is the ticket by which a Backup has its volume attached.
func TicketID(backup string) string { return v1beta2.TicketID(v1beta2.AttacherBackup, backup) }

// ticket is ours, or nil.
func (w World) ticket() *v1beta2.AttachmentTicket {
	if w.Attachment == nil {
		return nil
	}
	if t, ok := w.Attachment.Spec.AttachmentTickets[TicketID(w.Backup.Name)]; ok {
		return &t
	}
	return nil
}

// wanted is the ticket that the backup needs now; nil: none would help.
func (w World) wanted() *v1beta2.AttachmentTicket {
	return snapshot.Ticket(snapshot.Request{
		Attachment: w.Attachment, Volume: w.Volume, Node: w.Candidate, Type: v1beta2.AttacherBackup, ID: TicketID(w.Backup.Name),
		OwnerKind: "Backup", Owner: w.Backup,
	})
}

// granted reports whether our ticket, as it is, has its volume: it stays attached.
func (w World) granted() bool {
	held := w.ticket()
	if held == nil {
		return false
	}
	answer := w.Attachment.Status.AttachmentTicketStatuses[held.ID]
	return answer.Generation == held.Generation && conditions.IsTrue(answer.Conditions, v1beta2.TicketSatisfied)
}

// attachProblem explains why the volume is not attached for this backup.
func (w World) attachProblem() string {
	return snapshot.AttachProblem(snapshot.Request{Attachment: w.Attachment, Volume: w.Volume, Node: w.Candidate,
		ID: TicketID(w.Backup.Name)})
}

// TicketsDiffer reports whether tickets of backups, or the answers to them, changed.
func TicketsDiffer(was, is *v1beta2.VolumeAttachment) bool {
	return !maps.Equal(tickets(was), tickets(is))
}

// tickets are those of backups, by what is decided of each.
func tickets(a *v1beta2.VolumeAttachment) map[string]string {
	out := map[string]string{}
	for id, t := range a.Spec.AttachmentTickets {
		if t.Type == v1beta2.AttacherBackup {
			answer := a.Status.AttachmentTicketStatuses[id]
			out[id] = fmt.Sprint(t.NodeID, "/", answer.Generation, "/", conditions.Reason(answer.Conditions, v1beta2.TicketSatisfied))
		}
	}
	return out
}
