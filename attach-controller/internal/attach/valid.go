package attach

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// unknownType explains that a ticket has a type that this version does not know; empty: it has not.
func unknownType(x v1beta2.AttachmentTicket) string {
	if x.Type == "" || v1beta2.TicketPriority(x.Type) > 0 {
		return ""
	}
	return fmt.Sprintf("Its type %q is unknown, so that every other ticket comes first: correct the type, such as %s, or remove the ticket.",
		x.Type, v1beta2.AttacherLonghornAPI)
}

// unreadableEnd explains that the time at which a ticket ends by itself is none; empty: it is one, or the ticket ends with its owner.
func unreadableEnd(x v1beta2.AttachmentTicket) string {
	at := x.Parameters[v1beta2.TicketExpiresAt]
	if _, err := time.Parse(time.RFC3339, at); err == nil || at == "" || x.Parameters[v1beta2.TicketOwnerKind] != "" {
		return ""
	}
	return fmt.Sprintf("Its expiresAt %q is no RFC 3339 time, such as 2026-01-31T09:30:00Z, so that it never ends: correct it, or remove "+
		"the ticket.", at)
}

// invalid is the condition about what cannot be read in a ticket; nil: everything can. The API server refuses what is reported here, but
// not what it stored before it had the rule.
func invalid(x v1beta2.AttachmentTicket) *v1beta2.Condition {
	kind, end := unknownType(x), unreadableEnd(x)
	c := v1beta2.Condition{Type: v1beta2.TicketValid, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonExpiresAtUnreadable,
		Message: strings.TrimSpace(kind + " " + end)}
	switch {
	case kind != "":
		c.Reason = v1beta2.ReasonTypeUnknown
	case end == "":
		return nil
	}
	return &c
}
