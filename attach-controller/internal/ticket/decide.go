package ticket

import (
	"maps"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Why is the cause of a change of a ticket.
type Why string

// The reasons of changes. The first two write a ticket of ours, the others remove one.
const (
	// WhyWanted surfaces when a ticket of ours appears.
	WhyWanted Why = "Wanted"
	// WhyMoved surfaces when a ticket of ours asks for another node, frontend or owner than before.
	WhyMoved Why = "Moved"
	// WhyDone surfaces when a ticket of ours is not needed any more.
	WhyDone Why = "Done"
	// WhyOwnerGone surfaces when the object that a ticket was for is gone.
	WhyOwnerGone Why = "OwnerGone"
	// WhyExpired surfaces when the lifetime of a ticket is over.
	WhyExpired Why = "Expired"
	// WhyCordoned surfaces when a user's ticket is for a cordoned node, and the setting withdraws it.
	WhyCordoned Why = "Cordoned"
)

// Change is one ticket that is to be written or removed.
type Change struct {
	ID string
	// Ticket is the wanted ticket; nil: it is removed.
	Ticket *v1beta2.AttachmentTicket
	// Before is the stored ticket; nil: there is none.
	Before *v1beta2.AttachmentTicket
	Why    Why
	// Owner is the owner that is gone.
	Owner Owner
}

// Verdict is the wanted change of a volume's tickets.
type Verdict struct {
	// Changes are in order of the ids. If there are any, decide again on uncached reads, and apply that verdict.
	Changes []Change
	// RequeueAt is when to decide again although nothing changed; zero: not before something changes.
	RequeueAt time.Time
	// NoShareManager reports whether pods want a share and there is no share manager that runs one.
	NoShareManager bool
}

// Decide is total, deterministic, and changes nothing when it sees its own changes. A volume that is being deleted keeps its tickets: they
// are deleted with the VolumeAttachment. Decide ignores a volume that must still be taken over.
func Decide(w World) Verdict {
	if w.Volume == nil || w.Attachment == nil || w.Volume.DeletionTimestamp != nil || w.Attachment.DeletionTimestamp != nil ||
		NeedsTakeOver(w.Volume, w.Attachment) {
		return Verdict{}
	}
	var v Verdict
	v.Changes, v.RequeueAt = w.ended()
	if again := w.expansionAgain(); !again.IsZero() && (v.RequeueAt.IsZero() || again.Before(v.RequeueAt)) {
		v.RequeueAt = again
	}
	w = without(w, v.Changes)
	wished := wishes(w)
	v.Changes = append(v.Changes, w.changes(wished)...)
	slices.SortFunc(v.Changes, func(a, b Change) int { return compare(a.ID, b.ID) })
	v.NoShareManager = w.shared() && w.wantedByPods() && (w.ShareManager == nil || w.ShareManager.Status.OwnerID == "")
	return v
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// without is the world without the tickets that end.
func without(w World, ended []Change) World {
	if len(ended) == 0 {
		return w
	}
	left := maps.Clone(w.Attachment.Spec.AttachmentTickets)
	for _, c := range ended {
		delete(left, c.ID)
	}
	w.Attachment = w.Attachment.DeepCopy()
	w.Attachment.Spec.AttachmentTickets = left
	return w
}

// changes is the difference between our stored tickets and the wanted ones.
func (w World) changes(wished []wish) []Change {
	var out []Change
	wanted := map[string]bool{}
	for _, x := range wished {
		t := x.ticket()
		wanted[t.ID] = true
		before, exists := w.tickets()[t.ID]
		switch {
		case !exists:
			t.Generation = w.Attachment.Status.AttachmentTicketStatuses[t.ID].Generation + 1
			out = append(out, Change{ID: t.ID, Ticket: &t, Why: WhyWanted})
		case differs(before, t):
			t.Generation = before.Generation + 1
			out = append(out, Change{ID: t.ID, Ticket: &t, Before: &before, Why: WhyMoved})
		}
	}
	for id, before := range w.tickets() {
		if ours(id, before) && !wanted[id] {
			out = append(out, Change{ID: id, Before: &before, Why: WhyDone})
		}
	}
	return out
}

// differs reports whether a stored ticket differs from the wanted one. Fields of other writers stay; an owner that an older version did
// not record is no difference.
func differs(stored, wished v1beta2.AttachmentTicket) bool {
	if stored.Type != wished.Type || stored.NodeID != wished.NodeID || frontendOf(stored) != frontendOf(wished) {
		return true
	}
	uid := wished.Parameters[v1beta2.TicketOwnerUID]
	return uid != "" && stored.Parameters[v1beta2.TicketOwnerKind] != "" && stored.Parameters[v1beta2.TicketOwnerUID] != uid
}
