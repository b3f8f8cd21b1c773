package attach

import (
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// StepKind is what a step writes.
type StepKind string

// The steps.
const (
	// StepAnswer writes VolumeAttachment.status.
	StepAnswer StepKind = "Answer"
	// StepSpec writes Volume.spec, all of Verdict.Spec.
	StepSpec StepKind = "Spec"
)

// Step is one write. The steps of a verdict are done in order, and none of them after one that failed.
type Step struct {
	Kind StepKind
	// AtVersion binds the write to the resourceVersion of its object that was evaluated.
	AtVersion bool
	// Fresh requests an uncached read of the Volume right before: if its VolumeOf differs from what was evaluated, this write and all
	// later ones are left to the next verdict.
	Fresh bool
	// Answers are the tickets' that StepAnswer writes, by id; nil removes one. The rest of the status is Verdict.Status.
	Answers map[string]*v1beta2.AttachmentTicketStatus
}

// Verdict is the wanted state of the volume and its tickets.
type Verdict struct {
	// Row is the row of the table that applied.
	Row Row
	// Spec is the wanted Volume.spec.
	Spec Spec
	// Status is the wanted VolumeAttachment.status, once Spec is stored; zero if there is none.
	Status v1beta2.VolumeAttachmentStatus
	// Steps are the writes that are missing, in order.
	Steps []Step
}

// Decide is total, deterministic, and changes nothing when it sees its own changes stored.
func Decide(w World) Verdict {
	if w.Volume == nil {
		return w.orphaned()
	}
	t := table{World: w, tickets: w.sorted()}
	v := Verdict{}
	v.Spec, v.Row = t.spec()
	if w.Attachment == nil {
		v.Steps = t.steps(v, nil, false)
		return v
	}
	answers := t.answers(v.Spec)
	v.Status = v1beta2.VolumeAttachmentStatus{
		AttachmentTicketStatuses: answers,
		Conditions:               conditions.Set(w.Attachment.Stored.Conditions, t.ready(v.Spec, answers), w.Now),
		ObservedGeneration:       w.Attachment.Generation,
		NodeID:                   v.Spec.NodeID,
		Holder:                   holder(t.holders(v.Spec)),
	}
	changed, lowers := t.changed(v)
	v.Steps = t.steps(v, changed, lowers)
	return v
}

// holder returns the id of the first of the tickets that hold a volume; an empty id is replaced by its type.
func holder(tickets []v1beta2.AttachmentTicket) string {
	if len(tickets) == 0 {
		return ""
	}
	if tickets[0].ID == "" {
		return tickets[0].Type
	}
	return tickets[0].ID
}

// orphaned is the verdict on a VolumeAttachment without a volume: no ticket is satisfied, and there is no holder.
func (w World) orphaned() Verdict {
	v := Verdict{Row: RowIdle}
	if w.Attachment == nil {
		return v
	}
	const message = "There is no volume of this name: create it, or delete this VolumeAttachment."
	t := table{World: w, tickets: w.sorted()}
	v.Status = v1beta2.VolumeAttachmentStatus{
		AttachmentTicketStatuses: map[string]v1beta2.AttachmentTicketStatus{},
		Conditions: conditions.Set(w.Attachment.Stored.Conditions, v1beta2.Condition{
			Type: v1beta2.VolumeAttachmentReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonBlocked, Message: message,
			ObservedGeneration: w.Attachment.Generation,
		}, w.Now),
		ObservedGeneration: w.Attachment.Generation,
	}
	for _, x := range t.tickets {
		v.Status.AttachmentTicketStatuses[x.ID] = t.answer(x, v1beta2.Condition{
			Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonAttaching, Message: message,
		})
	}
	if changed, lowers := t.changed(v); len(changed) > 0 || !w.said(v.Status) {
		v.Steps = []Step{{Kind: StepAnswer, Answers: changed, AtVersion: lowers}}
	}
	return v
}

// changed returns the answers that differ from the stored ones, and whether any of them was better before.
func (t table) changed(v Verdict) (map[string]*v1beta2.AttachmentTicketStatus, bool) {
	stored, lowers := t.Attachment.Stored.AttachmentTicketStatuses, false
	out := map[string]*v1beta2.AttachmentTicketStatus{}
	for id, answer := range v.Status.AttachmentTicketStatuses {
		before, exists := stored[id]
		if !exists || !sameAnswer(before, answer) {
			out[id] = &answer
		}
		lowers = lowers || before.Satisfied && !answer.Satisfied
	}
	for id, before := range stored {
		if _, exists := t.Attachment.Tickets[id]; !exists {
			out[id] = nil
			lowers = lowers || before.Satisfied
		}
	}
	// The cache may not show a raised answer yet: a ticket of a node that the volume leaves is answered again.
	for _, x := range t.tickets {
		if answer := v.Status.AttachmentTicketStatuses[x.ID]; t.givesUp(v.Spec, x.NodeID) && !answer.Satisfied {
			out[x.ID], lowers = &answer, true
		}
	}
	return out, lowers
}

// givesUp reports whether a spec takes the volume from a node.
func (t table) givesUp(wanted Spec, node string) bool {
	had := t.Volume != nil && node != "" && (node == t.Volume.NodeID || node == t.Volume.MigrationNodeID)
	return had && node != wanted.NodeID && node != wanted.MigrationNodeID
}

// steps orders the writes. An answer is raised only if the spec does not change; if the spec changes and nothing is lowered, the answers
// are left to the next verdict, which the change triggers. A raised or lowered answer is bound to the evaluated resourceVersion, so that a
// late write changes nothing.
func (t table) steps(v Verdict, changed map[string]*v1beta2.AttachmentTicketStatus, lowers bool) []Step {
	answer := Step{Kind: StepAnswer, Answers: changed}
	if v.Spec == t.Volume.Spec {
		if t.Attachment == nil || len(changed) == 0 && t.said(v.Status) {
			return nil
		}
		raises := t.raises(changed)
		answer.AtVersion, answer.Fresh = raises || lowers, raises
		return []Step{answer}
	}
	spec := Step{Kind: StepSpec, AtVersion: true}
	if !lowers {
		return []Step{spec}
	}
	answer.Answers, answer.AtVersion = t.withoutRaised(changed), true
	return []Step{answer, spec}
}

// raises reports whether an answer is raised.
func (t table) raises(changed map[string]*v1beta2.AttachmentTicketStatus) bool {
	return len(t.withoutRaised(changed)) < len(changed)
}

// withoutRaised drops the answers that become satisfied, or stay so for another generation of their ticket.
func (t table) withoutRaised(changed map[string]*v1beta2.AttachmentTicketStatus) map[string]*v1beta2.AttachmentTicketStatus {
	out := maps.Clone(changed)
	maps.DeleteFunc(out, func(id string, after *v1beta2.AttachmentTicketStatus) bool {
		before := t.Attachment.Stored.AttachmentTicketStatuses[id]
		return after != nil && after.Satisfied && (!before.Satisfied || before.Generation != after.Generation)
	})
	return out
}

// said reports whether all but the answers is stored.
func (w World) said(s v1beta2.VolumeAttachmentStatus) bool {
	stored := w.Attachment.Stored
	return stored.ObservedGeneration == s.ObservedGeneration && stored.NodeID == s.NodeID && stored.Holder == s.Holder &&
		conditions.Equal(stored.Conditions, s.Conditions)
}

func sameAnswer(a, b v1beta2.AttachmentTicketStatus) bool {
	return a.ID == b.ID && a.Generation == b.Generation && a.Satisfied == b.Satisfied && conditions.Equal(a.Conditions, b.Conditions)
}
