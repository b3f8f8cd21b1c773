package enginepoll

import (
	"maps"
	"time"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/shared/status"
)

// afterRefusal are the pauses after writes about one object that failed: it may be refused for as long as a quota or a policy stays.
var afterRefusal = execute.Backoff{First: time.Second, Most: 5 * time.Minute}

// refusals are the objects beside an engine about which the last write failed, by what they are. Each is written again after a pause of its
// own, and neither the polls of the engine nor other objects wait for it: an error that a pass returns delays the next one by up to 16
// minutes, in which a replica that the engine drops stays RW.
type refusals map[string]refusal

type refusal struct {
	times int
	until time.Time
}

// due reports whether an object may be written.
func (r refusals) due(object string, now time.Time) bool { return !now.Before(r[object].until) }

// failed is the refusals after a write that failed.
func (r refusals) failed(object string, now time.Time) refusals {
	times := r[object].times + 1
	return with(r, object, refusal{times, now.Add(afterRefusal.After(times))})
}

// prune forgets those that nobody wrote again for long.
func (r refusals) prune(now time.Time) {
	maps.DeleteFunc(r, func(_ string, one refusal) bool { return now.After(one.until.Add(2 * afterRefusal.Most)) })
}

// next is when the first object that waits is due; zero is never.
func (r refusals) next(now time.Time) (at time.Time) {
	for _, one := range r {
		if now.Before(one.until) && (at.IsZero() || one.until.Before(at)) {
			at = one.until
		}
	}
	return at
}

// due reports whether a write about an object need not wait after its last one failed.
func (p *poll) due(object string) (due bool) {
	due = true
	p.memory.ChangeKnown(p.engine.Name, func(r *remembered) bool {
		due = r.refusals.due(object, p.rt.Clock.Now())
		return false
	})
	return due
}

// wrote notes how a write about an object ended. A conflict is no refusal: the next poll decides on the new version, and comes at once.
func (p *poll) wrote(object string, err error) {
	if status.IsConflict(err) {
		p.conflict = true
		return
	}
	now := p.rt.Clock.Now()
	p.memory.ChangeKnown(p.engine.Name, func(r *remembered) bool {
		if err != nil {
			r.refusals = r.refusals.failed(object, now)
		} else {
			delete(r.refusals, object)
		}
		return false
	})
	if err != nil {
		p.rt.Log.Info("not written", "engine", p.engine.Name, "object", object, "error", err.Error())
	}
}

// again is how long until the next poll is due because of writes about other objects than the engine; zero is whenever.
func (p *poll) again() (next time.Duration) {
	if p.conflict {
		return conflictPause
	}
	p.memory.ChangeKnown(p.engine.Name, func(r *remembered) bool {
		next = p.until(r.refusals.next(p.rt.Clock.Now()))
		return false
	})
	return next
}
