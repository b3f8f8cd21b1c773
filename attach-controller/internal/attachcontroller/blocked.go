package attachcontroller

import (
	"slices"
	"sync"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// blockedTickets counts the tickets that are not served now for a reason that a user must resolve, by that reason.
type blockedTickets struct {
	mutex sync.Mutex
	// of are those of each VolumeAttachment that has any.
	of map[string]map[string]int
}

// note replaces the entry of one VolumeAttachment; without answers it has none.
func (b *blockedTickets) note(attachment string, answers map[string]v1beta2.AttachmentTicketStatus) {
	now := map[string]int{}
	for _, a := range answers {
		if reason := conditions.Reason(a.Conditions, v1beta2.TicketSatisfied); !a.Satisfied && slices.Contains(alarming, reason) {
			now[reason]++
		}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	before := b.of[attachment]
	for _, reason := range alarming {
		if grown := now[reason] - before[reason]; grown != 0 {
			waiting.WithLabelValues(reason).Add(float64(grown))
		}
	}
	delete(b.of, attachment)
	if len(now) == 0 {
		return
	}
	if b.of == nil {
		b.of = map[string]map[string]int{}
	}
	b.of[attachment] = now
}
