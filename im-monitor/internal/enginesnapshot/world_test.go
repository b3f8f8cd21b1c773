package enginesnapshot_test

import (
	"time"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

var rules = enginesnapshot.Rules{Gap: 5 * time.Second, Gather: time.Second, Longest: 10 * time.Second, Busy: time.Second}

// world is the second poll of an active engine that has only its head; its process has led for an hour.
func world(change ...func(*enginesnapshot.World)) enginesnapshot.World {
	w := enginesnapshot.World{
		Now: now, Began: now.Add(-10 * time.Millisecond), VolumeUID: "uid-1", Volume: "vol", Active: true, Alone: true, RW: true,
		Listed:    map[string]v1beta2.SnapshotInfo{enginesnapshot.Head: {Name: enginesnapshot.Head}},
		ElectedAt: now.Add(-time.Hour), FencingDelayEnds: now.Add(-57 * time.Minute), Rules: rules,
		Memory: enginesnapshot.Memory{Polled: true},
	}
	for _, f := range change {
		f(&w)
	}
	return w
}

// lists adds a snapshot to what the engine lists.
func lists(name string, change ...func(*v1beta2.SnapshotInfo)) func(*enginesnapshot.World) {
	info := v1beta2.SnapshotInfo{Name: name, UserCreated: true, Created: now.Add(-time.Second).Format(time.RFC3339)}
	for _, f := range change {
		f(&info)
	}
	return func(w *enginesnapshot.World) { w.Listed[name] = info }
}

func marked(i *v1beta2.SnapshotInfo) { i.Removed = true }
func under(children ...string) func(*v1beta2.SnapshotInfo) {
	return func(i *v1beta2.SnapshotInfo) {
		i.Children = map[string]bool{}
		for _, c := range children {
			i.Children[c] = true
		}
	}
}

// object adds a Snapshot of the engine's volume.
func object(name string, change ...func(*enginesnapshot.Snapshot)) func(*enginesnapshot.World) {
	s := enginesnapshot.Snapshot{Name: name, Owner: "uid-1"}
	for _, f := range change {
		f(&s)
	}
	return func(w *enginesnapshot.World) { w.Snapshots = append(w.Snapshots, s) }
}

func asked(s *enginesnapshot.Snapshot)    { s.Create, s.Requested = true, now.Add(-2*time.Second) }
func again(s *enginesnapshot.Snapshot)    { s.Requested = now }
func deleting(s *enginesnapshot.Snapshot) { s.Deleting = true }
func approved(s *enginesnapshot.Snapshot) { s.Deleting, s.Approved = true, true }
func seen(s *enginesnapshot.Snapshot)     { s.Seen = true }
func foreign(s *enginesnapshot.Snapshot)  { s.Owner = "uid-2" }

// unremoved: a failed removal was reported a minute ago, for an approval two minutes ago.
func unremoved(s *enginesnapshot.Snapshot) {
	s.Since = now.Add(-2 * time.Minute)
	s.RemovalFailed = &v1beta2.Condition{Type: v1beta2.SnapshotRemovalFailed, Status: v1beta2.ConditionTrue,
		Reason:        v1beta2.ReasonPurgeFailed,
		LastProbeTime: now.Add(-time.Minute).Format(time.RFC3339Nano)}
}
func withdrawn(s *enginesnapshot.Snapshot) {
	s.Withdrawn = &v1beta2.Condition{Type: v1beta2.SnapshotWithdrawn, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSnapshotGone}
}
func provisioned(status v1beta2.ConditionStatus, reason string) func(*enginesnapshot.Snapshot) {
	return func(s *enginesnapshot.Snapshot) {
		s.Provisioned = &v1beta2.Condition{Type: v1beta2.SnapshotProvisioned, Status: status, Reason: reason,
			LastProbeTime: now.Add(-time.Second).Format(time.RFC3339Nano)}
	}
}

// remembers changes what the process remembers.
func remembers(f func(*enginesnapshot.Memory)) func(*enginesnapshot.World) {
	return func(w *enginesnapshot.World) { f(&w.Memory) }
}

// purgedFor reports that this process had the engine purge for the snapshot, which ended with an error.
func purgedFor(name string) func(*enginesnapshot.World) {
	return func(w *enginesnapshot.World) {
		w.Memory.Purged = map[string]time.Time{name: now.Add(-time.Second)}
		w.PurgeError = "tcp://10.0.0.1:10000: disk on fire"
	}
}

func missing(name string, ago time.Duration) func(*enginesnapshot.World) {
	return remembers(func(m *enginesnapshot.Memory) {
		m.Missing = map[string]time.Time{name: now.Add(-10*time.Millisecond - ago)}
	})
}

// gathered: the delay that batches deletions is over.
var gathered = remembers(func(m *enginesnapshot.Memory) {
	m.Deleting, m.Approved, m.Grown, m.Gathering = 9, 9, now.Add(-time.Second), now.Add(-time.Second)
})

// reasons are those of the conditions that a verdict writes, by name.
func reasons(v enginesnapshot.Verdict) map[string]string {
	out := map[string]string{}
	for _, c := range v.Changes {
		out[c.Name] += string(c.Condition.Status) + "/" + c.Condition.Reason
	}
	return out
}
