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

// purgeQueue records which volumes may purge on each node, and which is next. A volume has one slot for all its snapshots, since one purge
// removes all of them. The queue is ordered by the time of deletion. A volume that has a slot and is not
// attached for long moves to the end of the queue, if others wait. The queue is rebuilt from the stored approvals, so that
// losing the queue costs nothing.
type purgeQueue struct {
	mutex sync.Mutex
	nodes map[string]*nodeQueue
	where map[types.UID]entry
}

type nodeQueue struct {
	granted map[string]*place // by volume
	waiting []entry           // in order
}

// place is one volume's.
type place struct {
	uids map[types.UID]bool
	idle time.Time // since when its work cannot continue; zero: it can
}

// entry is one snapshot in the queue.
type entry struct {
	uid          types.UID
	name, volume string
	node         string
	since        time.Time
}

// claim is what else decides about an entry.
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
	// enqueue are the snapshots that may be next, or that lost their slot.
	enqueue []string
	// again is when to ask again at the latest; 0: another event enqueues the snapshot.
	again time.Duration
}

func newPurgeQueue() *purgeQueue {
	return &purgeQueue{nodes: map[string]*nodeQueue{}, where: map[types.UID]entry{}}
}

// enter reports whether the snapshot's volume may purge on the node, and else adds it to the queue.
func (l *purgeQueue) enter(t entry, c claim) answer {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var out answer
	t, n, behind := l.register(t)
	held := n.granted[t.volume] != nil
	if !held && !c.approved && n.first(t) {
		out.enqueue = l.expel(n, t, c)
	}
	out.enqueue = append(out.enqueue, behind...)
	if out.granted = held || n.admits(t, c); !out.granted {
		out.again = n.wait(t, c.now)
		return out
	}
	n.grant(t)
	n.granted[t.volume].note(c)
	if n.free(c.limit) || n.idles() {
		out.enqueue = append(out.enqueue, n.next()...)
	}
	return out
}

// expect adds a snapshot that waited for a place to the queue; it asks later whether it has one.
func (l *purgeQueue) expect(t entry) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	t, n, _ := l.register(t)
	n.append(t)
}

// register records where the snapshot is, and returns it with its time in the queue of its node, and who may be next on the node that its
// volume left.
func (l *purgeQueue) register(t entry) (_ entry, _ *nodeQueue, behind []string) {
	if before, ok := l.where[t.uid]; ok && before.node != t.node {
		l.remove(before)
		if left := l.nodes[before.node]; left != nil {
			behind = left.next()
		}
	} else if ok && before.since.After(t.since) {
		t.since = before.since // it lost its place
	}
	n := l.nodes[t.node]
	if n == nil {
		n = &nodeQueue{granted: map[string]*place{}}
		l.nodes[t.node] = n
	}
	l.where[t.uid] = t
	return t, n, behind
}

// admits reports whether a volume without a place gets one.
func (n *nodeQueue) admits(t entry, c claim) bool {
	return c.approved || c.limit == 0 || n.free(c.limit) && n.first(t)
}

// wait adds a snapshot to those that wait, and returns when it asks again: once the longest idle volume may lose its place.
func (n *nodeQueue) wait(t entry, now time.Time) time.Duration {
	n.append(t)
	if _, since, ok := n.idlest(); ok && n.first(t) {
		return max(since.Add(idlePatience).Sub(now), time.Second)
	}
	return 0
}

// expel takes places from volumes that were idle for too long, as many as it takes to let one in, and puts them at the end
// of the queue, after all that wait and the one that asks.
func (l *purgeQueue) expel(n *nodeQueue, asks entry, c claim) (names []string) {
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

// leave removes a snapshot from the queue and returns those that may be next.
func (l *purgeQueue) leave(uid types.UID) []string {
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
func (l *purgeQueue) all() []string {
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

func (l *purgeQueue) remove(t entry) {
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

func (n *nodeQueue) append(t entry) {
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); !found {
		n.waiting = slices.Insert(n.waiting, at, t)
	}
}

func (n *nodeQueue) free(limit int) bool { return limit == 0 || len(n.granted) < limit }

// first reports whether no other volume is before it.
func (n *nodeQueue) first(t entry) bool {
	return len(n.waiting) == 0 || n.waiting[0].volume == t.volume || order(t, n.waiting[0]) < 0
}

func (n *nodeQueue) grant(t entry) {
	if at, found := slices.BinarySearchFunc(n.waiting, t, order); found {
		n.waiting = slices.Delete(n.waiting, at, at+1)
	}
	if n.granted[t.volume] == nil {
		n.granted[t.volume] = &place{uids: map[types.UID]bool{}}
	}
	n.granted[t.volume].uids[t.uid] = true
}

// note keeps since when the volume's work cannot continue.
func (p *place) note(c claim) {
	switch {
	case c.works:
		p.idle = time.Time{}
	case p.idle.IsZero():
		p.idle = c.now
	}
}

func (n *nodeQueue) idles() bool { _, _, ok := n.idlest(); return ok }

// idlest is the volume whose work stands still for the longest time.
func (n *nodeQueue) idlest() (volume string, since time.Time, ok bool) {
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
func (n *nodeQueue) next() []string {
	var out []string
	for _, t := range n.waiting {
		if t.volume == n.waiting[0].volume {
			out = append(out, t.name)
		}
	}
	return out
}

func order(a, b entry) int {
	return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
}
