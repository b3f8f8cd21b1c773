package inventory

import (
	"slices"
	"sync"
)

// index reports which instance managers hold a name. Nearly every name has one holder, which costs no slice.
type index struct {
	mu    sync.RWMutex
	names map[string]holders
}

// holders of one name: the first, and the rest if there are more.
type holders struct {
	first string
	more  []string
}

// all are the holders, in a slice of their own.
func (h holders) all() []string { return append([]string{h.first}, h.more...) }

// but are all holders but one.
func (h holders) but(one string) []string {
	return slices.DeleteFunc(h.all(), func(other string) bool { return other == one })
}

// add makes an instance manager a holder of names.
func (x *index) add(holder string, names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range names {
		h, ok := x.names[name]
		switch {
		case !ok:
			h.first = holder
		case h.first != holder && !slices.Contains(h.more, holder):
			h.more = append(slices.Clip(h.more), holder)
		}
		x.names[name] = h
	}
}

// remove takes names from an instance manager.
func (x *index) remove(holder string, names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range names {
		h, ok := x.names[name]
		if !ok {
			continue
		}
		rest := h.but(holder)
		if len(rest) == 0 {
			delete(x.names, name)
			continue
		}
		x.names[name] = holders{first: rest[0], more: rest[1:]}
	}
}

// of returns the holders of a name, sorted; nil when there are none.
func (x *index) of(name string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	h, ok := x.names[name]
	if !ok {
		return nil
	}
	all := h.all()
	slices.Sort(all)
	return all
}

// shared returns which of the names other holders have, by holder, in the order of names.
func (x *index) shared(holder string, names []string) map[string][]string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := map[string][]string{}
	for _, name := range names {
		h, ok := x.names[name]
		if !ok || h.first == holder && len(h.more) == 0 {
			continue // as nearly every name
		}
		for _, other := range h.but(holder) {
			out[other] = append(out[other], name)
		}
	}
	return out
}
