package inventory

import "time"

// absence holds the evidence of one instance manager's present epoch about names that its lists lack. It is a pure value machine: lists go
// in, proofs come out. Its memory is bounded by the names that vanished within the gap and those somebody asked about.
type absence struct {
	gap, settle time.Duration
	v2          bool

	// since is when the epoch's connection was made, first when its first whole list ended; zero first means none yet.
	since, first time.Time
	// lacked reports when the first list ended that lacked a name seen earlier in this epoch. A name that is not in it is lacked since
	// first, or was proven absent already.
	lacked map[string]time.Time
	// asked are the names whose absence somebody waits for. They outlive epochs.
	asked map[string]struct{}
}

// begin starts a new epoch: all evidence is void, the questions stay.
func (a *absence) begin(since time.Time) {
	a.since, a.first, a.lacked = since, time.Time{}, nil
}

// settled reports whether a list begun at a time may count as all that a server holds.
func (a *absence) settled(began time.Time) bool {
	return !a.v2 || began.Sub(a.since) >= a.settle
}

// lackedSince is when the first list of this epoch ended that lacked a name; only for a name that the latest list lacks.
func (a *absence) lackedSince(name string) time.Time {
	if at, ok := a.lacked[name]; ok {
		return at
	}
	return a.first
}

// proven applies the rule to a name that the list begun at a time lacks.
func (a *absence) proven(name string, began time.Time) bool {
	return !a.first.IsZero() && began.Sub(a.lackedSince(name)) >= a.gap && a.settled(began)
}

// due is when a list may begin that proves a name's absence.
func (a *absence) due(name string) time.Time {
	at := a.lackedSince(name).Add(a.gap)
	if settled := a.since.Add(a.settle); a.v2 && settled.After(at) {
		return settled
	}
	return at
}

// record takes in a whole list: which names vanished since the list before (of this epoch), and what is there now. It returns the asked
// names that are now proven absent.
func (a *absence) record(list *Snapshot, vanished []string) []string {
	if a.first.IsZero() {
		a.first = list.Ended
	} else {
		a.note(vanished, list.Ended)
	}
	for name := range a.lacked {
		if list.Instances.Has(name) || a.proven(name, list.Began) {
			delete(a.lacked, name)
		}
	}
	var proofs []string
	for name := range a.asked {
		back := list.Instances.Has(name)
		proof := !back && a.proven(name, list.Began)
		if back || proof {
			delete(a.asked, name)
		}
		if proof {
			proofs = append(proofs, name)
		}
	}
	return proofs
}

// note remembers when names were first lacked.
func (a *absence) note(vanished []string, at time.Time) {
	if len(vanished) > 0 && a.lacked == nil {
		a.lacked = make(map[string]time.Time, len(vanished))
	}
	for _, name := range vanished {
		a.lacked[name] = at
	}
}

// ask remembers that somebody waits for the absence of a name.
func (a *absence) ask(name string) {
	if a.asked == nil {
		a.asked = map[string]struct{}{}
	}
	a.asked[name] = struct{}{}
}

// followUp is when the next list is due for the sake of absence, given when the last one began; zero is never. A v2 server does not
// notify of what it rediscovers, so one list is due when it has settled.
func (a *absence) followUp(last time.Time) time.Time {
	var next time.Time
	if !a.settled(last) {
		next = a.since.Add(a.settle)
	}
	for name := range a.asked {
		if at := a.due(name); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}
