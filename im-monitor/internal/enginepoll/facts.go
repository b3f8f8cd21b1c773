package enginepoll

import (
	"time"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// facts are what one poll found: the engine's answers, the objects beside them, and what this process remembers. Nothing changes them after
// observe has returned them.
type facts struct {
	// engine is the version that was polled, run identifies its run, now is when the last fact was read.
	engine *v1beta2.Engine
	run    string
	now    time.Time
	known  view
	seen   engine.Seen
	// room is how much larger than the volume its backends are; nil is unknown.
	room *volumesize.Room
	// alone reports whether no other engine of the volume is to run; cleansUp, whether system snapshots may be purged; reachable, whether
	// calls can go through the engine's frontend, if it has one.
	alone, cleansUp, reachable bool
	// electedAt is when this process was elected; zero where it is not.
	electedAt time.Time
	// fencingDelayEnds is until when a call of an earlier leader may be in progress.
	fencingDelayEnds time.Time
	// snapshots are the volume's Snapshots by name; others are listed names that none of them can have. What is written is bound to these
	// versions, which the cache shares.
	snapshots map[string]*v1beta2.Snapshot
	others    map[string]bool
	// backups are the volume's Backups by name, in the same way; answers are the engine's about those that it was requested to take.
	// backupsAt is when it was asked first.
	backups   map[string]*v1beta2.Backup
	answers   map[string]answer
	backupsAt time.Time
}

// answer is what the engine answered about one backup. A backup that the engine did not report, although it answered, is silent: servers
// answer alike about one that they do not know, and about one whose replica they could not ask.
type answer struct {
	backup.Answer
	silent bool
}

// rebuilding reports whether a replica is being added or rebuilt.
func (f facts) rebuilding() bool { return f.known.adding != "" || f.seen.Has(v1beta2.ReplicaModeWO) }

// briefPurge reports whether a purge of this process for deleted Snapshots is in progress that began a moment ago: most end within
// seconds, and what lasts no longer is not worth a write. One that was reported, or that matters to the end of a restore, is reported.
func (f facts) briefPurge(o Options) bool {
	e := f.engine
	return v1beta2.IsPurging(f.seen.Purges) && !v1beta2.IsPurging(e.Status.PurgeStatus) && engine.PurgeError(f.seen.Purges) == "" &&
		e.Spec.RequestedBackupRestore == "" && enginesnapshot.PurgedAfter(f.known.snapshots, f.seen.Began.Add(-o.briefPurge()))
}

// engineWorld is what package engine decides on. reported are the snapshots of Engine.status.
func (f facts) engineWorld(o Options, reported map[string]v1beta2.SnapshotInfo, briefPurge bool) engine.World {
	return engine.World{
		Now: f.now, Engine: f.engine, Seen: f.seen, Snapshots: reported, BriefPurge: briefPurge, Room: f.room,
		Adding: f.known.adding, Failures: f.known.failures,
		Waits: f.known.waits, Failed: f.known.failed, Over: f.known.over, Growth: f.known.growth, CleanUp: f.cleansUp,
		Purged: f.known.purged, Unsettled: f.known.unsettled, Period: o.Period, Busy: o.Busy,
	}
}

// snapshotWorld is what package enginesnapshot decides on; busy reports whether another operation of the engine is in progress.
func (f facts) snapshotWorld(o Options, busy bool, unlisted map[string]time.Time) enginesnapshot.World {
	e := f.engine
	w := enginesnapshot.World{
		Now: f.now, Began: f.seen.Began, VolumeUID: engine.VolumeUID(e.OwnerReferences, e.Spec.VolumeName), Volume: e.Spec.VolumeName,
		V2: e.Spec.DataEngine == v1beta2.DataEngineV2, Active: e.Spec.Active, Alone: f.alone, RW: f.seen.RW(), Busy: busy,
		Rebuilding: f.rebuilding(), Purging: f.seen.MayPurge(), PurgeError: engine.PurgeError(f.seen.Purges),
		Listed: f.seen.Snapshots, Limits: snapshotlimit.OfEngine(e), Others: f.others, Memory: f.known.snapshots,
		ElectedAt: f.electedAt, FencingDelayEnds: f.fencingDelayEnds,
		Rules: enginesnapshot.Rules{Gap: o.Snapshots.Gap, Gather: o.Snapshots.Gather, Longest: gatherLongest * o.Snapshots.Gather,
			Busy: o.Busy},
	}
	w.Memory.Unlisted = unlisted
	for _, s := range f.snapshots {
		w.Snapshots = append(w.Snapshots, snapshotOf(s))
	}
	return w
}

// backupWorld is what package backup decides on.
func (f facts) backupWorld(o Options, busy bool) backup.World {
	w := backup.World{
		AskedAt: f.backupsAt, Now: f.now, Run: f.run, V2: f.engine.Spec.DataEngine == v1beta2.DataEngineV2,
		Usable: f.engine.Spec.Active && f.alone && f.seen.RW(), Busy: busy, RW: f.listedRW(), Listed: f.seen.Snapshots,
		Answers: map[string]backup.Answer{}, Open: f.known.open, ElectedAt: f.electedAt, FencingDelayEnds: f.fencingDelayEnds, Pause: o.Busy,
	}
	for _, b := range f.backups {
		w.Backups = append(w.Backups, backupOf(b))
	}
	for name, a := range f.answers {
		if !a.silent || f.known.silent[name]+1 >= silentMost(f.backups[name]) {
			w.Answers[name] = a.Answer
		}
	}
	return w
}

// silentMost is how many polls in a row may fail to report a backup before the engine counts as not having it.
func silentMost(b *v1beta2.Backup) int {
	if b != nil && b.Status.State == v1beta2.BackupInProgress {
		return lostCopyAfter
	}
	return lostAfter
}
