package engine

import (
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/volumesize"
)

// Growth is an expansion that the engine accepted.
type Growth struct {
	// To is the size to reach; 0: there is no expansion.
	To volumesize.Backend
	// Unchanged is the time of the first poll since which the engine neither grew nor reported an expansion.
	Unchanged time.Time
}

// expansion records the result of the last expansion. An engine that accepted one may fail silently: its snapshot limits forbid it, or its
// frontend does not grow. The expansion succeeded when the size is reached; it failed when the size did not change in two polls without
// an expansion in progress. Such an error stays until the size is reached, since the engine never reports it.
func (p *pass) expansion() {
	v, s := p.Seen.Volume, &p.out.Status
	p.out.Growth = p.Growth
	if v == nil {
		return
	}
	s.IsExpanding = v.Expanding
	if p.Room != nil {
		s.CurrentSize = int64(p.Room.Net(v.Size))
	}
	if v.ExpansionError != "" || p.Room != nil && !p.grows() || p.Room == nil && s.CurrentSize == p.Engine.Spec.VolumeSize {
		s.LastExpansionError, s.LastExpansionFailedAt = v.ExpansionError, v.ExpansionAt
	}
	p.going = p.going || v.Expanding
	g := &p.out.Growth
	switch {
	case g.To == 0:
	case v.Size >= g.To, v.ExpansionError != "" && !v.Expanding:
		*g = Growth{}
	case v.Expanding:
		g.Unchanged = time.Time{}
	case g.Unchanged.IsZero():
		g.Unchanged, p.going = p.Seen.Began, true
	case p.Seen.Began.Sub(g.Unchanged) < p.Busy:
		p.going = true
	default:
		p.out.ExpansionFailed = true
		s.LastExpansionFailedAt = p.Now.UTC().Format(time.RFC3339)
		s.LastExpansionError = fmt.Sprintf("the engine accepted the expansion to %d bytes and still has %d: it is at one of its snapshot "+
			"limits, or its frontend does not grow; delete snapshots or raise the limits, or detach the volume and attach it again", g.To,
			v.Size)
		*g = Growth{}
	}
}
