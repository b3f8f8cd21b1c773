package instancecontroller

import "sync"

// waitlist are the objects that wait for another object of their volume.
type waitlist struct {
	mu sync.Mutex
	m  map[string]map[Key]struct{}
}

// set enters a key or removes it, and reports whether it is new on the list.
func (w *waitlist) set(volume string, key Key, waits bool) (entered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, listed := w.m[volume][key]
	switch {
	case waits && w.m == nil:
		w.m = map[string]map[Key]struct{}{volume: {key: {}}}
	case waits && w.m[volume] == nil:
		w.m[volume] = map[Key]struct{}{key: {}}
	case waits:
		w.m[volume][key] = struct{}{}
	case listed:
		delete(w.m[volume], key)
		if len(w.m[volume]) == 0 {
			delete(w.m, volume)
		}
	}
	return waits && !listed
}

// of are those of one volume.
func (w *waitlist) of(volume string) []Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Key
	for key := range w.m[volume] {
		out = append(out, key)
	}
	return out
}

// all are those of every volume: few, and only while something is wrong.
func (w *waitlist) all() []Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Key
	for _, keys := range w.m {
		for key := range keys {
			out = append(out, key)
		}
	}
	return out
}

// drop forgets an object that is gone.
func (w *waitlist) drop(key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for volume, keys := range w.m {
		delete(keys, key)
		if len(keys) == 0 {
			delete(w.m, volume)
		}
	}
}

// await enters a key that waits for another object of its volume. What changed between the reading and the entry enqueued nothing,
// so that a key which is new on the list is evaluated once more.
func (s *base) await(volume string, key Key, waits bool) {
	if s.waitlist.set(volume, key, waits) {
		s.reportQueue.Add(key)
	}
}
