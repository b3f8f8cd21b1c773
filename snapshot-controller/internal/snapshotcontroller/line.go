package snapshotcontroller

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// line keeps who may purge on each node, and who is next. A volume has one place for all its snapshots, since one purge
// does for all of them. Those who wait have their turn by the time of their deletion. It is rebuilt from the approvals
// that are stored, so that losing it costs nothing.
type line struct {
	mutex sync.Mutex
	nodes map[string]*lineOfNode
	where map[types.UID]turn
}

type lineOfNode struct {
	granted map[string]map[types.UID]bool // by volume
	waiting []turn                        // in order
}

// turn is one snapshot in the line.
type turn struct {
	uid          types.UID
	name, volume string
	node         string
	since        time.Time
}

func newLine() *line {
	return &line{nodes: map[string]*lineOfNode{}, where: map[types.UID]turn{}}
}

// enter tells whether the snapshot's volume may purge on the node, and else puts it in the line; it returns those whose
// turn may have come, too. One that is approved already has a place, whatever the limit; 0 is no limit.
func (l *line) enter(t turn, approved bool, limit int) (bool, []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if before, ok := l.where[t.uid]; ok && before.node != t.node {
		l.remove(before)
	}
	n := l.nodes[t.node]
	if n == nil {
		n = &lineOfNode{granted: map[string]map[types.UID]bool{}}
		l.nodes[t.node] = n
	}
	l.where[t.uid] = t
	if approved || n.granted[t.volume] != nil || limit == 0 || n.free(limit) && n.first(t) {
		n.grant(t)
		if n.free(limit) {
			return true, n.next()
		}
		return true, nil
	}
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); !found {
		n.waiting = slices.Insert(n.waiting, at, t)
	}
	return false, nil
}

// leave takes a snapshot out of the line and returns those whose turn may have come.
func (l *line) leave(uid types.UID) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	t, ok := l.where[uid]
	if !ok {
		return nil
	}
	l.remove(t)
	n := l.nodes[t.node]
	if n == nil {
		return nil
	}
	return n.next()
}

// all are those who wait on any node.
func (l *line) all() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var out []string
	for _, n := range l.nodes {
		for _, t := range n.waiting {
			out = append(out, t.name)
		}
	}
	return out
}

func (l *line) remove(t turn) {
	delete(l.where, t.uid)
	n := l.nodes[t.node]
	if n == nil {
		return
	}
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); found {
		n.waiting = slices.Delete(n.waiting, at, at+1)
	}
	delete(n.granted[t.volume], t.uid)
	if len(n.granted[t.volume]) == 0 {
		delete(n.granted, t.volume)
	}
	if len(n.granted) == 0 && len(n.waiting) == 0 {
		delete(l.nodes, t.node)
	}
}

func (n *lineOfNode) free(limit int) bool { return limit == 0 || len(n.granted) < limit }

// first tells that nobody of another volume is before it.
func (n *lineOfNode) first(t turn) bool {
	return len(n.waiting) == 0 || n.waiting[0].volume == t.volume || order(t, n.waiting[0]) < 0
}

func (n *lineOfNode) grant(t turn) {
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); found {
		n.waiting = slices.Delete(n.waiting, at, at+1)
	}
	if n.granted[t.volume] == nil {
		n.granted[t.volume] = map[types.UID]bool{}
	}
	n.granted[t.volume][t.uid] = true
}

// next are all snapshots of the volume that is first.
func (n *lineOfNode) next() []string {
	var out []string
	for _, t := range n.waiting {
		if t.volume == n.waiting[0].volume {
			out = append(out, t.name)
		}
	}
	return out
}

func order(a, b turn) int {
	return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
}
