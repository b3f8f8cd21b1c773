package replicacontroller

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"drover.dev/drover/shared/api/v1beta2"
)

// reservations records how much each disk was promised, how much is copied to it, and how many replicas each node rebuilds, one event at
// a time, so that a placement does not add up all replicas. Replicas that this process created count at once, before the cache shows them;
// replicas that it chose for a rebuild count before the volume machine starts them. A larger size that it accepted for a volume counts
// before the replicas have it.
type reservations struct {
	mu         sync.Mutex
	volumes    volumes
	filled     bool
	entries    map[string]entry
	scheduled  map[diskKey]int64
	copied     map[diskKey]int64 // bytes that replicas which are rebuilt may still take
	rebuilding map[string]int    // by node
	reserved   map[string]bool   // replicas that must be rebuilt, and do not run yet
	waiting    map[string]bool   // replicas to which their engine does not copy now
	accepted   map[string]int64  // sizes that replicas may get, and do not have yet
}

// volumes reads the volume of a replica: the size that its replicas may get, and the bytes that are copied to a new replica.
type volumes interface {
	accepted(volume string) int64
	data(volume string) int64
}

// diskKey identifies a disk. Two nodes have the same UUID if a device was copied, or if a disk moved and the Replicas of its old node stay.
type diskKey struct{ node, uuid string }

type entry struct {
	version string // of the object; a replica just created has none yet
	volume  string
	disk    diskKey
	// size is the size of the replica, promised the size that it may get.
	size, promised int64
	// isRebuilt reports whether the replica takes room for the data that is copied to it, rebuilding whether it takes a slot: a replica that
	// waits at its engine takes no slot.
	isRebuilt, rebuilding bool
	data                  int64
}

// freed reports which limit an event made free: a slot of the node, or room on a disk of it.
type freed struct{ slot, room bool }

func newReservations(v volumes) *reservations {
	return &reservations{volumes: v, entries: map[string]entry{}, scheduled: map[diskKey]int64{}, copied: map[diskKey]int64{},
		rebuilding: map[string]int{}, reserved: map[string]bool{}, waiting: map[string]bool{}, accepted: map[string]int64{}}
}

func entryOf(r *v1beta2.Replica) entry {
	if v1beta2.IsSecondProcess(r) { // it takes the room of the replica whose directory it serves
		return entry{version: r.ResourceVersion}
	}
	return entry{version: r.ResourceVersion, volume: r.Spec.VolumeName, disk: diskKey{r.Spec.NodeID, r.Spec.DiskID},
		size: r.Spec.VolumeSize, isRebuilt: rebuilds(r)}
}

// lacksData reports whether a replica may be about to be rebuilt.
func lacksData(r *v1beta2.Replica) bool {
	return r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && r.Spec.HealthyAt == "" && !v1beta2.IsSecondProcess(r)
}

// rebuilds reports whether a replica is being rebuilt.
func rebuilds(r *v1beta2.Replica) bool {
	return lacksData(r) && r.Spec.DesireState == v1beta2.InstanceStateRunning
}

// see records the present state of an object, and reports what became free.
func (l *reservations) see(r *v1beta2.Replica) freed {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.entries[r.Name]
	if !newer(r.ResourceVersion, before.version) {
		return freed{} // the event arrives after the cache shows the object: decisions on it count already
	}
	now := entryOf(r)
	if now.isRebuilt || !lacksData(r) {
		delete(l.reserved, r.Name)
	}
	if !now.isRebuilt {
		delete(l.waiting, r.Name)
	}
	now.isRebuilt = now.isRebuilt || l.reserved[r.Name]
	now.rebuilding = now.isRebuilt && !l.waiting[r.Name]
	if !known {
		l.accept(r.Name, now, l.volumes.accepted(now.volume))
	}
	l.put(r.Name, now)
	return freed{slot: before.rebuilding && !now.rebuilding, room: before.isRebuilt && !now.isRebuilt}
}

// promise records the size that the replicas of a volume may get.
func (l *reservations) promise(replicas []*v1beta2.Replica, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range replicas {
		if e, known := l.entries[r.Name]; known {
			e.size = r.Spec.VolumeSize
			l.accept(r.Name, e, size)
			l.put(r.Name, e)
		}
	}
}

// accept notes the size that a replica may get, until it has that size.
func (l *reservations) accept(name string, e entry, size int64) {
	if size > e.size && e.disk.uuid != "" {
		l.accepted[name] = size
	} else {
		delete(l.accepted, name)
	}
}

// newer reports whether a version is later than the other; any is later than none.
func newer(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err != nil || order > 0
}

// reserve counts a replica as one that is rebuilt, until it is, or fails, or is cancelled.
func (l *reservations) reserve(r *v1beta2.Replica) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved[r.Name] = true
	e := entryOf(r)
	e.isRebuilt, e.rebuilding = true, true
	l.put(r.Name, e)
}

// cancel ends a reservation: the replica is not rebuilt now.
func (l *reservations) cancel(name string) (freed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reserved[name] {
		return false
	}
	delete(l.reserved, name)
	e := l.entries[name]
	e.isRebuilt, e.rebuilding = false, false
	l.put(name, e)
	return true
}

// wait records whether a replica waits for its engine to rebuild it, and reports whether that frees a slot. Once the engine copies, the
// replica takes a slot again, even if all slots are taken: nobody could stop the copy.
func (l *reservations) wait(name string, waits bool) (freed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, known := l.entries[name]
	if !known || l.waiting[name] == waits || waits && !e.rebuilding {
		return false
	}
	if e.rebuilding = !waits; waits {
		l.waiting[name] = true
	} else {
		delete(l.waiting, name)
	}
	l.put(name, e)
	return waits
}

// fill reads the cache before the first placement: the events of a start may still be under way then. Only the placing calls it, one at a
// time.
func (l *reservations) fill(list func() ([]v1beta2.Replica, error)) error {
	if l.filled {
		return nil
	}
	all, err := list()
	if err != nil {
		return err
	}
	for i := range all {
		l.see(&all[i])
	}
	l.filled = true
	return nil
}

// forget drops a replica that is gone, and returns the node on which that freed a slot for a rebuild; empty: none.
func (l *reservations) forget(name string) (freed string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.entries[name]
	l.take(name)
	delete(l.reserved, name)
	delete(l.waiting, name)
	delete(l.accepted, name)
	if !before.rebuilding {
		return ""
	}
	return before.disk.node
}

// put counts an entry in place of the entry before. The data of a rebuild counts as it was when the replica was chosen, or as it grew
// since.
func (l *reservations) put(name string, e entry) {
	l.take(name)
	if e.isRebuilt && e.disk.uuid != "" {
		e.data = max(e.data, l.volumes.data(e.volume))
	} else {
		e.data = 0
	}
	if e.size >= l.accepted[name] {
		delete(l.accepted, name)
	}
	e.promised = max(e.size, l.accepted[name])
	l.entries[name] = e
	l.scheduled[e.disk] += e.promised
	if e.data > 0 {
		l.copied[e.disk] += e.data
	}
	if e.rebuilding {
		l.rebuilding[e.disk.node]++
	}
}

func (l *reservations) take(name string) {
	e, known := l.entries[name]
	if !known {
		return
	}
	delete(l.entries, name)
	if l.scheduled[e.disk] -= e.promised; l.scheduled[e.disk] == 0 {
		delete(l.scheduled, e.disk)
	}
	if e.data > 0 {
		if l.copied[e.disk] -= e.data; l.copied[e.disk] == 0 {
			delete(l.copied, e.disk)
		}
	}
	if e.rebuilding {
		if l.rebuilding[e.disk.node]--; l.rebuilding[e.disk.node] == 0 {
			delete(l.rebuilding, e.disk.node)
		}
	}
}

func (l *reservations) bytes(node, disk string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scheduled[diskKey{node, disk}]
}

// copies returns how many bytes replicas that are rebuilt on a disk may still take.
func (l *reservations) copies(node, disk string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copied[diskKey{node, disk}]
}

func (l *reservations) rebuilds(node string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rebuilding[node]
}
