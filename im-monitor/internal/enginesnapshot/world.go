package enginesnapshot

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// Head is listed by every engine beside its snapshots. It never becomes a Snapshot.
const Head = v1beta2.VolumeHead

// Snapshot is one Snapshot object.
type Snapshot struct {
	Name string
	// Owner is the UID of the Volume that owns it; empty is unknown.
	Owner string
	// Create reports whether the Snapshot requests a snapshot, Requested since when the request is approved; zero is not approved.
	Create    bool
	Requested time.Time
	// Seen reports whether snapshot-controller saw the snapshot in Engine.status.
	Seen     bool
	Deleting bool
	// Approved reports whether its removal is approved, Since since when.
	Approved bool
	Since    time.Time
	// Provisioned, Withdrawn and RemovalFailed are the conditions of im-monitor; nil is absent.
	Provisioned, Withdrawn, RemovalFailed *v1beta2.Condition
}

// Memory is what a process remembers of one run of an engine. It may be lost without harm.
type Memory struct {
	// Polled reports whether this run was polled before.
	Polled bool
	// Missing are Snapshots that polls did not list, Strange are snapshots without an object, each with the time of the first such poll.
	Missing, Strange map[string]time.Time
	// Unlisted are snapshots that Engine.status has although polls since then did not list them.
	Unlisted map[string]time.Time
	// Called are snapshots that this process requested; Open are those of them whose call was not answered, and until when the
	// server may still execute it.
	Called map[string]bool
	Open   map[string]time.Time
	// Removed are snapshots whose removal the engine accepted, Purged those whose purge it accepted, with the time.
	Removed, Purged map[string]time.Time
	// Deleting is the number of deleted Snapshots since Grown, Approved the number of them whose removal was approved; Gathering
	// is when the first of them was deleted.
	Deleting, Approved int
	Grown, Gathering   time.Time
	// TakeAfter and RemoveAfter delay the retry of failed calls.
	TakeAfter   map[string]time.Time
	RemoveAfter time.Time
}

// Rules are durations.
type Rules struct {
	// Gap is between two polls that prove an absence.
	Gap time.Duration
	// Gather is how long no further Snapshot may have been deleted before the deleted ones are removed together, Longest how
	// long that may take.
	Gather, Longest time.Duration
	// Busy is the time between polls during an operation.
	Busy time.Duration
}

// World is one complete poll of a running engine, and the objects beside it.
type World struct {
	Now time.Time
	// Began is when the poll began.
	Began time.Time
	// VolumeUID is that of the Volume that owns the engine; empty is unknown.
	VolumeUID string
	Volume    string
	V2        bool
	// Active reports whether the engine is the volume's active one; Alone, that no other engine of the volume is to run.
	Active, Alone bool
	// RW and Rebuilding report whether a replica is in that state, Busy whether another operation of the engine is in progress, Purging
	// whether snapshots are merged.
	RW, Rebuilding, Busy, Purging bool
	// PurgeError is the error that replicas report about the last purge, if it has ended; empty: none.
	PurgeError string
	// Listed are the engine's snapshots.
	Listed map[string]v1beta2.SnapshotInfo
	// Limits are those of the engine.
	Limits snapshotlimit.Limits
	// Snapshots are the volume's objects; Others are listed names that objects of other volumes have.
	Snapshots []Snapshot
	Others    map[string]bool
	// FencingDelayEnds is until when a call of an earlier leader may be in progress; ElectedAt is when this process was elected.
	ElectedAt, FencingDelayEnds time.Time
	Memory                      Memory
	Rules                       Rules
}

// Change is one condition of one Snapshot.
type Change struct {
	Name      string
	Condition v1beta2.Condition
}

// Verdict is everything that follows from one poll.
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
	// RequeueAt is when to poll again at the latest; zero is no deadline.
	RequeueAt time.Time
	Memory    Memory
}
