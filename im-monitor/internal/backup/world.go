package backup

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Backup is one Backup object.
type Backup struct {
	Name, UID, Snapshot string
	// Version is the resourceVersion: a call is sent only for what was evaluated.
	Version string
	Created time.Time
	// Deleting: it is not begun any more; one that an engine copies is followed to the end, since no engine can be stopped.
	Deleting bool
	// Approved reports whether it may be taken.
	Approved bool
	State    string
	// Run is the run of the engine that was asked for it, and Requested when; empty and zero: none was.
	Run       string
	Requested time.Time
	// Replica copies; Progress is in percent.
	Replica  string
	Progress int
}

// Answer is what the engine reports of one backup.
type Answer struct {
	// Known reports whether the engine knows it at all.
	Known bool
	State string
	// Error, URL and Replica may be empty.
	Error, URL, Replica string
	Percent             int
}

// World is a poll of a running engine, and what is known beside it.
type World struct {
	// AskedAt is when the engine was asked about backups: it may have begun a call after that. Now is when all of this was read.
	AskedAt, Now time.Time
	// Run identifies this run of the engine. V2 reports whether it is of the v2 data engine.
	Run string
	V2  bool
	// Usable reports whether it is the volume's one engine and has a replica that is RW; Busy, that something else is being done.
	Usable, Busy bool
	// RW are the addresses of the replicas that this poll listed in mode RW. Listed are its snapshots; nil is unknown.
	RW     []string
	Listed map[string]v1beta2.SnapshotInfo
	// Backups are the volume's.
	Backups []Backup
	// Answers are what was asked and answered, by name.
	Answers map[string]Answer
	// Open reports until when a call of this process may be under way that no one answered, by name.
	Open map[string]time.Time
	// FencingDelayEnds is until when a call of an earlier leader may be under way; ElectedAt is when this one began.
	ElectedAt, FencingDelayEnds time.Time
	// Pause is the time between polls during an operation.
	Pause time.Duration
}

// CallWorld is what Allowed reads right before a request, uncached.
type CallWorld struct {
	// Evaluated is the Backup that Decide chose, Now what it is at present; nil where it is gone.
	Evaluated Backup
	Now       *Backup
	// Noted is the UID of the Backup, the run of the engine and the time of the request that this try wrote ahead; nil where it did not yet.
	Noted *Note
	// TargetName is that of the backup target, Target the object; nil where there is none.
	TargetName string
	Target     *Target
}

// Note is what is on record of a request before it is sent.
type Note struct {
	UID, Run  string
	Requested time.Time
}

// Target is one BackupTarget.
type Target struct {
	URL      string
	Deleting bool
}

// Change is what a Backup's status is to report now.
type Change struct {
	// State is empty for one that was deleted and that no engine copies.
	Name, State         string
	Error, URL, Replica string
	Progress            int
	// Size is that of a completed one, in bytes; empty is unknown.
	Size string
}

// Verdict is everything that one poll leads to.
type Verdict struct {
	Changes []Change
	// Begin is the Backup that the engine is asked for now; empty: none.
	Begin string
	// RequeueAt is when to poll again at the latest; zero is whenever.
	RequeueAt time.Time
}

// ended reports whether nothing is to be done for it.
func (b Backup) ended() bool {
	return b.Deleting && !b.begun() || b.State == v1beta2.BackupCompleted || b.State == v1beta2.BackupError
}

// begun reports whether an engine was asked, or was to be.
func (b Backup) begun() bool {
	return b.State == v1beta2.BackupPending || b.State == v1beta2.BackupInProgress
}

// begunBy reports whether this run of the engine was asked, or was to be.
func (b Backup) begunBy(run string) bool { return b.Run == run && b.begun() }

// Wants reports whether a Backup has something to ask an engine for.
func Wants(b Backup) bool { return !b.ended() && (b.Approved || b.begun()) }

// Ask are the Backups of which this run of the engine is asked.
func Ask(run string, list []Backup) []Backup {
	var out []Backup
	for _, b := range list {
		if !b.ended() && b.begunBy(run) {
			out = append(out, b)
		}
	}
	return out
}
