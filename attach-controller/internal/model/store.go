package model

// memory is for how many steps a read may still show the version before the last write.
const memory = 20

// slot is one object of the API server. Its versions are never modified: their addresses are their resourceVersions.
type slot[T any] struct {
	now, before *T
	// changed is the step of the last write.
	changed int
}

// read returns the object as a cache shows it: now and then the previous version; nil if it does not exist.
func read[T any](w *world, s *slot[T]) *T {
	if s.before != s.now && w.step-s.changed < memory && w.chance(w.staleness) {
		return s.before
	}
	return s.now
}

// write changes a copy of the object, and reports whether the writer may continue: it may not after a conflict with the version that it
// evaluated, nor after a crash. Without an evaluated version, the write is not bound to any.
func write[T any](w *world, s *slot[T], evaluated *T, change func(*T)) bool {
	if s.now == nil || evaluated != nil && evaluated != s.now {
		w.trace("  conflict")
		return false
	}
	next := *s.now
	change(&next)
	return put(w, s, &next)
}

// put stores a version, nil for the end of the object, and reports whether the writer may continue.
func put[T any](w *world, s *slot[T], next *T) bool {
	s.before, s.now, s.changed = s.now, next, w.step
	w.dirty = true
	if w.chance(w.crashes) {
		w.trace("  crash after this write")
		return false
	}
	return true
}

// all are the objects of a list as a cache shows them.
func all[T any](w *world, slots []*slot[T]) []*T {
	var out []*T
	for _, s := range slots {
		if object := read(w, s); object != nil {
			out = append(out, object)
		}
	}
	return out
}

// current are the objects of a list as they are.
func current[T any](slots []*slot[T]) []*T {
	var out []*T
	for _, s := range slots {
		if s.now != nil {
			out = append(out, s.now)
		}
	}
	return out
}

// owner returns the slot of an object, by the version that was read of it.
func owner[T any](slots []*slot[T], object *T) *slot[T] {
	for _, s := range slots {
		if s.now == object || s.before == object {
			return s
		}
	}
	return nil
}
