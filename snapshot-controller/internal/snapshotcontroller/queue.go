package snapshotcontroller

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// idlePatience is how long a volume keeps a place, while others wait, without being attached.
const idlePatience = 5 * time.Minute

// line keeps who may purge on each node, and who is next. A volume has one place for all its snapshots, since one purge
// does for all of them. Those who wait have their turn by the time of their deletion. A volume that has a place and is not
// attached for long goes to the end of the line, if others wait. It is rebuilt from the approvals that are stored, so that
// losing it costs nothing.
type line struct {
	mutex sync.Mutex
	nodes map[string]*lineOfNode
	where map[types.UID]turn
}

type lineOfNode struct {
	granted map[string]*place // by volume
	waiting []turn            // in order
}

// place is one volume's.
type place struct {
	uids map[types.UID]bool
	idle time.Time // since when its work cannot go on; zero: it can
}

// turn is one snapshot in the line.
type turn struct {
	uid          types.UID
	name, volume string
	node         string
	since        time.Time
}

// claim is what else counts for a turn.
type claim struct {
	now time.Time
	// approved: it has a place already. works: its volume is attached and its engine runs.
	approved, works bool
	// limit is how many volumes may purge on the node; 0 is no limit.
	limit int
}

// answer is what became of a claim.
type answer struct {
	granted bool
	// enqueue are those whose turn may have come, or whose place was taken away.
	enqueue []string
	// again is when to ask again at the latest; 0: somebody wakes it.
	again time.Duration
}

func newLine() *line {
	return &line{nodes: map[string]*lineOfNode{}, where: map[types.UID]turn{}}
}

// enter reports whether the snapshot's volume may purge on the node, and else puts it in the line.
func (l *line) enter(t turn, c claim) answer {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if before, ok := l.where[t.uid]; ok && before.node != t.node {
		l.remove(before)
	} else if ok && before.since.After(t.since) {
		t.since = before.since // it lost its place
	}
	n := l.nodes[t.node]
	if n == nil {
		n = &lineOfNode{granted: map[string]*place{}}
		l.nodes[t.node] = n
	}
	l.where[t.uid] = t
	var out answer
	held := n.granted[t.volume]
	if held == nil && !c.approved && n.first(t) {
		out.enqueue = l.expel(n, t, c)
	}
	if c.approved || held != nil || c.limit == 0 || n.free(c.limit) && n.first(t) {
		out.granted = true
		n.grant(t)
		n.granted[t.volume].note(c)
		if n.free(c.limit) || n.idles() {
			out.enqueue = append(out.enqueue, n.next()...)
		}
		return out
	}
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); !found {
		n.waiting = slices.Insert(n.waiting, at, t)
	}
	if _, since, ok := n.idlest(); ok && n.first(t) {
		out.again = max(since.Add(idlePatience).Sub(c.now), time.Second)
	}
	return out
}

// expel takes places from volumes that were idle for too long, as many as it takes to let one in, and puts them at the end
// of the line, after everybody who waits and the one that asks.
func (l *line) expel(n *lineOfNode, asks turn, c claim) (names []string) {
	for !n.free(c.limit) {
		volume, since, ok := n.idlest()
		if !ok || c.now.Sub(since) < idlePatience {
			return names
		}
		last := c.now
		for _, t := range append(slices.Clone(n.waiting), asks) {
			if !t.since.Before(last) {
				last = t.since.Add(time.Second)
			}
		}
		for uid := range n.granted[volume].uids {
			t := l.where[uid]
			t.since = last
			l.where[uid] = t
			names = append(names, t.name)
			at, _ := slices.BinarySearchFunc(n.waiting, t, order)
			n.waiting = slices.Insert(n.waiting, at, t)
		}
		delete(n.granted, volume)
	}
	slices.Sort(names)
	return names
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
	if held := n.granted[t.volume]; held != nil {
		delete(held.uids, t.uid)
		if len(held.uids) == 0 {
			delete(n.granted, t.volume)
		}
	}
	if len(n.granted) == 0 && len(n.waiting) == 0 {
		delete(l.nodes, t.node)
	}
}

func (n *lineOfNode) free(limit int) bool { return limit == 0 || len(n.granted) < limit }

// first reports whether nobody of another volume is before it.
func (n *lineOfNode) first(t turn) bool {
	return len(n.waiting) == 0 || n.waiting[0].volume == t.volume || order(t, n.waiting[0]) < 0
}

func (n *lineOfNode) grant(t turn) {
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); found {
		n.waiting = slices.Delete(n.waiting, at, at+1)
	}
	if n.granted[t.volume] == nil {
		n.granted[t.volume] = &place{uids: map[types.UID]bool{}}
	}
	n.granted[t.volume].uids[t.uid] = true
}

// note keeps since when the volume's work cannot go on.
func (p *place) note(c claim) {
	switch {
	case c.works:
		p.idle = time.Time{}
	case p.idle.IsZero():
		p.idle = c.now
	}
}

func (n *lineOfNode) idles() bool { _, _, ok := n.idlest(); return ok }

// idlest is the volume whose work stands still for the longest time.
func (n *lineOfNode) idlest() (volume string, since time.Time, ok bool) {
	for name, p := range n.granted {
		if p.idle.IsZero() {
			continue
		}
		if !ok || cmp.Or(p.idle.Compare(since), cmp.Compare(name, volume)) < 0 {
			volume, since, ok = name, p.idle, true
		}
	}
	return volume, since, ok
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
