package attachcontroller

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
)

// Actions of the events.
const (
	actionAttach = "AttachVolume"
	actionDetach = "DetachVolume"
	actionMove   = "MigrateVolume"
	actionAnswer = "AnswerTicket"
)

// why explains why a row takes a volume back.
var why = map[attach.Row]string{
	attach.RowDeleting:  "it is being deleted",
	attach.RowFaulted:   "it is faulted; it is attached again when it was salvaged",
	attach.RowUnwanted:  "no ticket that can be served wants it there any more",
	attach.RowDown:      "the node is down, or not ready before the volume came, and the volume is wanted elsewhere",
	attach.RowInterrupt: "background work gives way to a ticket of a workload, or of the volume's own data",
	attach.RowAbandon:   "the migration cannot be completed; it is attached again for the ticket that is first in order",
}

// moved returns the events of a change of Volume.spec, for the Volume.
func moved(before attach.Spec, v attach.Verdict) []events.Event {
	switch {
	case v.Row == attach.RowChoose:
		return []events.Event{attachRequested(v.Spec, v.Status.Holder)}
	case v.Row == attach.RowMigrate:
		return []events.Event{migrationRequested(v.Spec)}
	case v.Row == attach.RowRollBack:
		return []events.Event{migrationRolledBack(before)}
	case v.Row == attach.RowConfirm:
		return []events.Event{migrationConfirmed(before, v.Spec)}
	case before.NodeID != "" && v.Spec.NodeID == "":
		return []events.Event{detachRequested(before, v.Row)}
	}
	return nil
}

func attachRequested(spec attach.Spec, holder string) events.Event {
	frontend := "on"
	if spec.DisableFrontend {
		frontend = "off"
	}
	return events.Event{Type: corev1.EventTypeNormal, Reason: "AttachRequested", Action: actionAttach,
		Note: fmt.Sprintf("The volume is to be attached to node %s with its frontend %s, for ticket %q.", spec.NodeID, frontend, holder)}
}

func detachRequested(before attach.Spec, row attach.Row) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "DetachRequested", Action: actionDetach,
		Note: fmt.Sprintf("The volume is to be detached from node %s: %s.", before.NodeID, why[row])}
}

func migrationRequested(spec attach.Spec) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "MigrationRequested", Action: actionMove,
		Note: fmt.Sprintf("The volume is to run on node %s, too, and to move there from node %s when the pod there is gone.",
			spec.MigrationNodeID, spec.NodeID)}
}

func migrationRolledBack(before attach.Spec) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "MigrationRolledBack", Action: actionMove,
		Note: fmt.Sprintf("The volume stays on node %s: node %s is down, or no pod wants it there any more.", before.NodeID,
			before.MigrationNodeID)}
}

func migrationConfirmed(before, spec attach.Spec) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "MigrationConfirmed", Action: actionMove,
		Note: fmt.Sprintf("The volume moves from node %s to node %s, where it runs already.", before.NodeID, spec.NodeID)}
}

// turn is a ticket whose answer has another reason than before.
type turn struct {
	id  string
	now v1beta2.Condition
}

// turns lists them in order of the ids.
func turns(stored map[string]v1beta2.AttachmentTicketStatus, done []attach.Step) []turn {
	var out []turn
	for _, step := range done {
		for _, id := range slices.Sorted(maps.Keys(step.Answers)) {
			answer := step.Answers[id]
			if answer == nil {
				continue
			}
			now := conditions.Get(answer.Conditions, v1beta2.TicketSatisfied)
			if now != nil && now.Reason != conditions.Reason(stored[id].Conditions, v1beta2.TicketSatisfied) {
				out = append(out, turn{id, *now})
			}
		}
	}
	return out
}

// blocked returns the events of tickets that became blocked, for the VolumeAttachment.
func blocked(turned []turn) []events.Event {
	var out []events.Event
	for _, t := range turned {
		if slices.Contains(alarming, t.now.Reason) {
			out = append(out, ticketBlocked(t))
		}
	}
	return out
}

func ticketBlocked(t turn) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "TicketBlocked", Action: actionAnswer,
		Note: fmt.Sprintf("Ticket %q is not served (%s). %s", t.id, t.now.Reason, t.now.Message)}
}
