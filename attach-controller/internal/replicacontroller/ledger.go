package replicacontroller

import (
	"sync"

	"drover.dev/drover/shared/api/v1beta2"
)

// ledger keeps how much each disk was promised and how many replicas each node rebuilds, one event at a time, so that a
// placement does not add up all replicas. What this process made counts at once, before the cache shows it.
type ledger struct {
	mu         sync.Mutex
	filled     bool
	entries    map[string]entry
	scheduled  map[string]int64 // by UUID of the disk
	rebuilding map[string]int   // by node
}

type entry struct {
	disk, node string
	size       int64
	rebuilding bool
}

func newLedger() *ledger {
	return &ledger{entries: map[string]entry{}, scheduled: map[string]int64{}, rebuilding: map[string]int{}}
}

func entryOf(r *v1beta2.Replica) entry {
	return entry{disk: r.Spec.DiskID, node: r.Spec.NodeID, size: r.Spec.VolumeSize, rebuilding: rebuilds(r)}
}

// rebuilds tells that a replica is on its way to become healthy.
func rebuilds(r *v1beta2.Replica) bool {
	return r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && r.Spec.HealthyAt == "" && r.Spec.DesireState == v1beta2.InstanceStateRunning
}

// see takes what an object says now, and tells whether a place for a rebuild became free.
func (l *ledger) see(r *v1beta2.Replica) (freed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.entries[r.Name]
	now := entryOf(r)
	l.put(r.Name, now)
	return before.rebuilding && !now.rebuilding
}

// fill takes what the cache holds before the first placement: the events of a start may still be under way then.
func (l *ledger) fill(list func() ([]v1beta2.Replica, error)) error {
	l.mu.Lock()
	filled := l.filled
	l.filled = true
	l.mu.Unlock()
	if filled {
		return nil
	}
	all, err := list()
	if err != nil {
		return err
	}
	for i := range all {
		l.see(&all[i])
	}
	return nil
}

func (l *ledger) forget(name string) (freed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.entries[name]
	l.take(name)
	return before.rebuilding
}

func (l *ledger) put(name string, e entry) {
	l.take(name)
	l.entries[name] = e
	l.scheduled[e.disk] += e.size
	if e.rebuilding {
		l.rebuilding[e.node]++
	}
}

func (l *ledger) take(name string) {
	e, known := l.entries[name]
	if !known {
		return
	}
	delete(l.entries, name)
	if l.scheduled[e.disk] -= e.size; l.scheduled[e.disk] == 0 {
		delete(l.scheduled, e.disk)
	}
	if e.rebuilding {
		if l.rebuilding[e.node]--; l.rebuilding[e.node] == 0 {
			delete(l.rebuilding, e.node)
		}
	}
}

func (l *ledger) bytes(disk string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scheduled[disk]
}

func (l *ledger) rebuilds(node string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rebuilding[node]
}
