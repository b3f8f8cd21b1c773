package enginesnapshot

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// Head is what every engine lists beside its snapshots. It never becomes a Snapshot.
const Head = "volume-head"

// Snapshot is one Snapshot object.
type Snapshot struct {
	Name string
	// Owner is the UID of the Volume that owns it; empty is unknown.
	Owner string
	// Create reports whether a snapshot must be taken, Requested since when that is approved; zero is not.
	Create    bool
	Requested time.Time
	// Seen reports whether snapshot-controller saw it in the engine.
	Seen     bool
	Deleting bool
	// Approved reports whether its removal is, Since when.
	Approved bool
	Since    time.Time
	// Provisioned, Withdrawn and RemovalFailed are what im-monitor reported; nil is nothing.
	Provisioned, Withdrawn, RemovalFailed *v1beta2.Condition
}

// Memory is what a process remembers of one run of an engine. Nothing in it is needed to be right.
type Memory struct {
	// Polled reports whether there was a poll of this run before.
	Polled bool
	// Missing are Snapshots that polls did not list, since when; Strange are snapshots without an object, since when.
	Missing, Strange map[string]time.Time
	// Unlisted are snapshots that Engine.status reports of although polls since then did not list them.
	Unlisted map[string]time.Time
	// Called are snapshots that this process took; Open are those of them for which no one answered, and until when the
	// server may still be at it.
	Called map[string]bool
	Open   map[string]time.Time
	// Removed are snapshots that the engine accepted to remove, Purged those for which it accepted to purge, since when.
	Removed, Purged map[string]time.Time
	// Deleting is how many deleted Snapshots were known, and Approved for how many of them removal was, since Grown; Gathering
	// is when the first of them was deleted.
	Deleting, Approved int
	Grown, Gathering   time.Time
	// TakeAfter and RemoveAfter hold calls back that failed.
	TakeAfter   map[string]time.Time
	RemoveAfter time.Time
}

// Rules are times.
type Rules struct {
	// Gap is between two polls that prove an absence.
	Gap time.Duration
	// Gather is how long no further Snapshot may have been deleted before those that were are removed together, Longest how
	// long that may take.
	Gather, Longest time.Duration
	// Busy is the time between polls while something continues.
	Busy time.Duration
}

// World is one whole poll of a running engine, and what is known beside it.
type World struct {
	Now time.Time
	// Began is when the poll did.
	Began time.Time
	// VolumeUID is that of the Volume that owns the engine; empty is unknown.
	VolumeUID string
	Volume    string
	V2        bool
	// Active reports whether the engine is the volume's active one; Alone, that no other engine of the volume must run.
	Active, Alone bool
	// RW and Rebuilding tell whether a replica is, Busy whether something else continues with the engine, Purging whether
	// snapshots are merged.
	RW, Rebuilding, Busy, Purging bool
	// PurgeError is what replicas report of the last purge, if that has ended; empty: nothing.
	PurgeError string
	// Listed are the engine's snapshots.
	Listed map[string]v1beta2.SnapshotInfo
	// Limits are those of the engine.
	Limits snapshotlimit.Limits
	// Snapshots are the volume's objects; Others are listed names that objects of other volumes have.
	Snapshots []Snapshot
	Others    map[string]bool
	// FencingDelayEnds is until when a call of an earlier leader may be under way; ElectedAt is when this one began.
	ElectedAt, FencingDelayEnds time.Time
	Memory                      Memory
	Rules                       Rules
}

// Change is one condition of one Snapshot.
type Change struct {
	Name      string
	Condition v1beta2.Condition
}

// Verdict is everything that one poll leads to.
type Verdict struct {
	// Changes are conditions to write; Mirror are snapshots that get an object; Take are snapshots to take.
	Changes []Change
	Mirror  []string
	Take    []string
	// Remove are snapshots to remove in one call, Purge whether to purge afterwards.
	Remove []string
	Purge  bool
	// For are those snapshots that the purge is for.
	For []string
	// Enqueue is when to poll again at the latest; zero is whenever.
	Enqueue time.Time
	Memory  Memory
}
