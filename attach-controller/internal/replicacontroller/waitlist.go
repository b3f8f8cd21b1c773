package replicacontroller

import (
	"slices"
	"sync"
)

// waitlist are volumes that wait until less is rebuilt on a node, in the order of their arrival.
type waitlist struct {
	mu     sync.Mutex
	byNode map[string][]string
}

func newWaitlist() *waitlist { return &waitlist{byNode: map[string][]string{}} }

// set makes a volume wait for exactly these nodes. It returns the volumes that are next on the nodes for which this one no longer waits:
// it may have left a slot free. One that is new on a node is next itself: a slot that became free since it was decided on enqueued nobody.
func (w *waitlist) set(volume string, nodes []string) (next []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for node, list := range w.byNode {
		at := slices.Index(list, volume)
		if at < 0 || slices.Contains(nodes, node) {
			continue
		}
		list = slices.Delete(list, at, at+1)
		if len(list) == 0 {
			delete(w.byNode, node)
			continue
		}
		w.byNode[node] = list
		next = append(next, list[0])
	}
	for _, node := range nodes {
		if !slices.Contains(w.byNode[node], volume) {
			w.byNode[node] = append(w.byNode[node], volume)
			next = append(next, volume)
		}
	}
	return next
}

// first returns the volume that has waited longest for the node; empty: none waits.
func (w *waitlist) first(node string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if list := w.byNode[node]; len(list) > 0 {
		return list[0]
	}
	return ""
}
