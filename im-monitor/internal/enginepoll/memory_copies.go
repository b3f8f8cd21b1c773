package enginepoll

import (
	"maps"
	"time"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
)

// snapshotMemory is what is remembered of the snapshots of one run of an engine.
type snapshotMemory struct {
	enginesnapshot.Memory
	// takes and removes count calls without the requested effect.
	takes   map[string]int
	removes int
	// silent counts consecutive removals that the engine did not answer.
	silent int
}

func (r snapshotMemory) view() enginesnapshot.Memory {
	out := r.Memory
	out.Called, out.Open, out.TakeAfter = maps.Clone(r.Called), maps.Clone(r.Open), maps.Clone(r.TakeAfter)
	out.Removed, out.Purged = maps.Clone(r.Removed), maps.Clone(r.Purged)
	return out
}

func (m *memory) keepSnapshots(name string, after enginesnapshot.Memory) {
	m.Change(name, func(all *remembered) {
		r := &all.snapshots
		r.Memory = after
		maps.DeleteFunc(r.takes, func(name string, _ int) bool { _, there := after.TakeAfter[name]; return !there })
		if after.Deleting == 0 {
			r.removes, r.RemoveAfter = 0, time.Time{}
		}
	})
}

// took records a call that takes a snapshot; open is until when the server may execute it if it was not answered.
func (m *memory) took(name, snapshot string, now, open time.Time) {
	m.Change(name, func(all *remembered) {
		r := &all.snapshots
		r.Called = with(r.Called, snapshot, true)
		// After a call the next one of its kind waits, longer each time, until the requested change is listed.
		r.TakeAfter = with(r.TakeAfter, snapshot, now.Add(execute.AfterFailure.After(r.takes[snapshot]+1)))
		r.takes = with(r.takes, snapshot, r.takes[snapshot]+1)
		if !open.IsZero() {
			r.Open = with(r.Open, snapshot, open)
		}
	})
}

// removed records a call that removes snapshots, and whether the engine accepted it.
func (m *memory) removed(name string, snapshots []string, now time.Time, accepted bool) {
	m.Change(name, func(all *remembered) { all.snapshots.removed(snapshots, now, accepted) })
}

func (r *snapshotMemory) removed(snapshots []string, now time.Time, accepted bool) {
	r.RemoveAfter = now.Add(execute.AfterFailure.After(r.removes + 1))
	r.removes++
	if !accepted {
		return
	}
	r.silent = 0
	for _, name := range snapshots {
		r.Removed = with(r.Removed, name, now)
	}
}

// purged records a call that purges for these snapshots, and whether the engine accepted it.
func (m *memory) purged(name string, snapshots []string, now time.Time, accepted bool) {
	m.Change(name, func(all *remembered) {
		r := &all.snapshots
		r.removed(nil, now, accepted)
		if accepted {
			for _, snapshot := range snapshots {
				r.Purged = with(r.Purged, snapshot, now)
			}
		}
	})
}

// purgedAfter reports whether a purge for deleted Snapshots was accepted by an engine after that time.
func (m *memory) purgedAfter(name string, at time.Time) (purged bool) {
	m.ChangeKnown(name, func(r *remembered) bool {
		purged = enginesnapshot.PurgedAfter(r.snapshots.Memory, at)
		return false
	})
	return purged
}

// unansweredRemoval records a removal that the engine did not answer, and returns the number of consecutive ones.
func (m *memory) unansweredRemoval(name string) int {
	return m.Change(name, func(r *remembered) { r.snapshots.silent++ }).snapshots.silent
}

// backupMemory is what is remembered of the backups that one engine was requested to take, by their names.
type backupMemory struct {
	// open is until when an unanswered call may be in progress; silent counts consecutive answers without the backup.
	open   map[string]time.Time
	silent map[string]int
	held   heldBackup
}

// heldBackup is a backup that was not requested, why, and in how many tries in a row. An engine has one: the next that is due.
type heldBackup struct {
	name, why string
	times     int
}

// reportHeldAfter is after how many tries that were not sent for the same reason this is reported: what was just changing is over by then.
const reportHeldAfter = 3

// heldBackup records why a backup was not requested, and reports whether that is to be reported, once.
func (m *memory) heldBackup(name, backup, why string) (report bool) {
	m.Change(name, func(r *remembered) {
		h := &r.backups.held
		if h.name != backup || h.why != why {
			*h = heldBackup{name: backup, why: why}
		}
		h.times++
		report = h.times == reportHeldAfter
	})
	return report
}

// requestedBackup forgets what stood against a request.
func (m *memory) requestedBackup(name string) {
	m.Change(name, func(r *remembered) { r.backups.held = heldBackup{} })
}

// asked records what the engine answered about backups.
func (m *memory) asked(name string, answers map[string]answer) {
	if len(answers) == 0 {
		return
	}
	m.Change(name, func(all *remembered) {
		r := &all.backups
		for backup, a := range answers {
			switch {
			case a.silent:
				r.silent = with(r.silent, backup, r.silent[backup]+1)
			case a.Known:
				delete(r.silent, backup)
				delete(r.open, backup)
			}
		}
	})
}

// unansweredBackup records a request for a backup that was not answered, and until when the engine may still begin it.
func (m *memory) unansweredBackup(name, backup string, until time.Time) {
	m.Change(name, func(r *remembered) { r.backups.open = with(r.backups.open, backup, until) })
}
