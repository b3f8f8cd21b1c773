package engine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// Replica is one replica as the engine lists it. Address is tcp://ip:port; Name may be empty.
type Replica struct{ Name, Address, Mode string }

// Volume is what the engine reports about its size and its limits.
type Volume struct {
	Size                        volumesize.Backend
	Expanding                   bool
	ExpansionError, ExpansionAt string
	// SnapshotMaxCount, SnapshotMaxSize and UnmapMark are its limits; RebuildLimit is 0 where it was not asked for.
	SnapshotMaxCount int
	SnapshotMaxSize  int64
	UnmapMark        bool
	RebuildLimit     int
}

// Seen is the result of one poll; nil fields were not requested, or not answered.
type Seen struct {
	// Began is when the first call of the poll was sent.
	Began     time.Time
	Replicas  []Replica
	Snapshots map[string]v1beta2.SnapshotInfo
	Volume    *Volume
	Rebuilds  map[string]v1beta2.RebuildStatus
	Clones    map[string]v1beta2.SnapshotCloneStatus
	Restores  map[string]v1beta2.RestoreStatus
	Purges    map[string]v1beta2.PurgeStatus
	// Unanswered are the questions that the engine was asked and did not answer.
	Unanswered Unanswered
}

// Unanswered are questions of a poll without an answer. The engine passes most questions on to its replicas, and fails as a whole if one of
// them does not answer. The subject of such a question is unknown: the status keeps the last answer, and no call relies on it.
type Unanswered struct{ Snapshots, Volume, Rebuilds, Clones, Restores, Purges bool }

// Any reports whether a question was not answered.
func (u Unanswered) Any() bool { return u != Unanswered{} }

// MayExpand reports whether the engine expands, or did not answer whether it does.
func (s Seen) MayExpand() bool { return s.Unanswered.Volume || s.Volume != nil && s.Volume.Expanding }

// MayPurge reports whether the engine purges, or did not answer whether it does.
func (s Seen) MayPurge() bool { return s.Unanswered.Purges || v1beta2.IsPurging(s.Purges) }

// RW reports whether a replica is in that mode.
func (s Seen) RW() bool { return s.Has(v1beta2.ReplicaModeRW) }

// Has reports whether a replica is in a mode.
func (s Seen) Has(mode string) bool {
	return slices.ContainsFunc(s.Replicas, func(r Replica) bool { return r.Mode == mode })
}

// World is a running engine and the result of a poll of it.
type World struct {
	Now    time.Time
	Engine *v1beta2.Engine
	Seen   Seen
	// Snapshots are those that the status reports: the listed ones, and those whose absence is not proven yet. Nil: they were not read.
	Snapshots map[string]v1beta2.SnapshotInfo
	// BriefPurge leaves the purge that the status reports as it is: the one in progress may end in a moment.
	BriefPurge bool
	// Room is how much larger than the volume its backends are; nil is unknown, and then no size is reported and no call with a size is
	// made.
	Room *volumesize.Room
	// Adding is the replica that a call of this process is adding; empty: none.
	Adding string
	// Failures counts failed additions, by the replica's name; Waits is until when a call is not retried, by its key.
	Failures map[string]int
	Waits    map[Key]time.Time
	// Failed has the engine's answers to the calls whose last attempt by this process failed, by their keys: a clause without a full
	// stop.
	Failed map[Key]string
	// Over is the Over of the previous poll's verdict.
	Over map[string]time.Time
	// Growth is that of the previous poll's verdict, or the expansion that the engine accepted since then.
	Growth Growth
	// CleanUp allows to purge system snapshots that rebuilds leave; Purged are the snapshots that the last such purge was for.
	CleanUp bool
	Purged  string
	// Unsettled is until when a change is expected: a replica's instance just failed, or a call was just sent.
	Unsettled time.Time
	// Period is the time between polls of a quiet engine, Busy the time between polls during an operation.
	Period, Busy time.Duration
}

// Op is the operation of a Call.
type Op string

// The calls.
const (
	OpAdd     Op = "add"
	OpRemove  Op = "remove"
	OpExpand  Op = "expand"
	OpClone   Op = "clone"
	OpRestore Op = "restore"
	OpRevert  Op = "revert"
	OpPurge   Op = "purge"
	OpVerify  Op = "verify"

	OpMaxCount     Op = "set-snapshot-max-count"
	OpMaxSize      Op = "set-snapshot-max-size"
	OpUnmapMark    Op = "set-unmap-mark"
	OpRebuildLimit Op = "set-rebuild-limit"
)

// Call is one call that is due.
type Call struct {
	Op Op
	// Name and Address (ip:port, or as listed) are the replica's.
	Name, Address string
	Size          volumesize.Backend
	// Limit is the limit to set, On the flag to set.
	Limit int64
	On    bool
	// Volume and Snapshot are what is copied from.
	Volume, Snapshot string
	// Restoring reports of an addition that the next restore fills the replica; it is known right before the call.
	Restoring bool
}

// Key identifies a call in memory.
type Key struct {
	Op   Op
	Name string
}

// Key is the call's operation and replica.
func (c Call) Key() Key {
	if c.Op == OpRemove && c.Name == "" {
		return Key{c.Op, c.Address}
	}
	return Key{c.Op, c.Name}
}

// Verdict is everything that follows from one poll.
type Verdict struct {
	// Status is the engine's complete new status: only what the poll reports differs from the old one.
	Status v1beta2.EngineStatus
	Calls  []Call
	// Rebuilding is the replica that is being added or rebuilt; empty: none.
	Rebuilding string
	// Over are write-only replicas whose rebuild has ended, with the time of the first such poll; Stranded are those of them that count
	// as failed: no caller makes them RW.
	Over     map[string]time.Time
	Stranded []string
	// Growth is the state of an expansion; ExpansionFailed reports that this poll found it failed.
	Growth          Growth
	ExpansionFailed bool
	// Purged are the snapshots that the purge in Calls is for. Held is the limit that keeps a replica from being added, MakesRoom the one
	// below which the purge in Calls makes room for one; empty: none.
	Purged, Held, MakesRoom string
	// Next is how long until the next poll; the caller adds jitter.
	Next time.Duration
	// Going reports whether an operation is in progress.
	Going bool
}

// Questions are what a poll requests beside replicas and snapshots; a quiet engine gets these two calls only.
type Questions struct{ Volume, RebuildLimit, Rebuilds, Clones, Restores, Purges bool }

// Ask returns what a poll of the engine has to request. first is the first poll by this process of this run; purging, that
// snapshots are being removed. v2 engines do not report purges.
func Ask(e *v1beta2.Engine, first, adding, purging bool) Questions {
	s := e.Status
	rebuilding := adding || v1beta2.IsRebuilding(s.RebuildStatus)
	for name := range e.Spec.ReplicaAddressMap {
		rebuilding = rebuilding || s.ReplicaModeMap[name] != v1beta2.ReplicaModeRW
	}
	return Questions{
		Volume: first || s.IsExpanding || s.CurrentSize != e.Spec.VolumeSize || unlike(e),
		RebuildLimit: e.Spec.DataEngine != v1beta2.DataEngineV2 && e.Spec.RebuildConcurrentSyncLimit > 0 &&
			(first || s.RebuildConcurrentSyncLimit != e.Spec.RebuildConcurrentSyncLimit),
		Rebuilds: rebuilding,
		Clones:   e.Spec.RequestedDataSource != "" && !cloned(s.CloneStatus),
		Purges:   (purging || v1beta2.IsPurging(s.PurgeStatus)) && e.Spec.DataEngine != v1beta2.DataEngineV2,
		Restores: e.Spec.RequestedBackupRestore != "" && (rebuilding || e.Spec.RequestedBackupRestore != s.LastRestoredBackup),
	}
}

// PurgeError is the errors that replicas report about a purge that has ended, in the order of their addresses; empty: none.
func PurgeError(all map[string]v1beta2.PurgeStatus) string {
	var out []string
	for _, where := range slices.Sorted(maps.Keys(all)) {
		if one := all[where]; !one.IsPurging && one.Error != "" {
			out = append(out, where+": "+one.Error)
		}
	}
	return strings.Join(out, "; ")
}

// begun reports whether a copy was begun in this run of the engine: some servers list replicas that copied nothing, too.
func begun(all map[string]v1beta2.SnapshotCloneStatus) bool {
	for _, one := range all {
		if one.IsCloning || one.State != "" {
			return true
		}
	}
	return false
}

// cloned reports whether the copy has ended, successfully or not.
func cloned(all map[string]v1beta2.SnapshotCloneStatus) bool {
	for _, one := range all {
		if one.IsCloning || one.State != copyComplete && one.State != copyError {
			return false
		}
	}
	return len(all) > 0
}

// The states of a copy.
const (
	copyComplete = "complete"
	copyError    = "error"
)
