package enginepoll

import (
	"time"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
)

// verdict is everything that follows from one poll.
type verdict struct {
	engine    engine.Verdict
	snapshots enginesnapshot.Verdict
	backups   backup.Verdict
	// unlisted are the snapshots that Engine.status reports although the poll did not list them. provenAt is when another poll may prove
	// that one of them is gone; zero is never.
	unlisted map[string]time.Time
	provenAt time.Time
}

// decide is pure. Snapshots and backups wait for the engine's own calls. Nothing is decided about snapshots where no call of theirs could
// reach the engine.
func decide(o Options, f facts) verdict {
	var v verdict
	var reported map[string]v1beta2.SnapshotInfo
	if f.seen.Snapshots != nil {
		reported, v.unlisted, v.provenAt = enginesnapshot.Reported(f.engine.Status.Snapshots, f.seen.Snapshots, f.known.snapshots,
			f.seen.Began, o.Snapshots.Gap)
	}
	brief := f.briefPurge(o)
	if brief {
		reported = enginesnapshot.WithoutMarks(f.engine.Status.Snapshots, reported, f.known.snapshots)
	}
	v.engine = engine.Decide(f.engineWorld(o, reported, brief))
	busy := len(v.engine.Calls) > 0 || f.seen.MayExpand()
	if f.reachable {
		v.snapshots = enginesnapshot.Decide(f.snapshotWorld(o, busy, v.unlisted))
	}
	v.backups = backup.Decide(f.backupWorld(o, busy))
	return v
}
