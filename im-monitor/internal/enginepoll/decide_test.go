package enginepoll

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var (
	noon  = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	rules = Options{Period: time.Minute, Busy: time.Second, Snapshots: SnapshotOptions{Gap: 5 * time.Second, Gather: time.Second}}
)

// polled is a poll of an engine with one replica that is RW and two snapshots: b is newer than a. A Snapshot requests the snapshot s, and a
// Backup of a is approved.
func polled() facts {
	owner := []metav1.OwnerReference{{Kind: "Volume", Name: "vol", UID: "vol-uid"}}
	e := runningEngine(owner)
	e.Spec.Active, e.Spec.VolumeSize, e.Spec.ReplicaAddressMap = true, 1<<30, map[string]string{"r-1": "10.0.0.1:1"}
	e.Status.CurrentSize = 1 << 30
	requested := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "s", OwnerReferences: owner},
		Spec: v1beta2.SnapshotSpec{Volume: "vol", CreateSnapshot: true}}
	requested.Status.RequestedTime = noon.Format(time.RFC3339Nano)
	approved := &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Name: "backup-1"}, Spec: v1beta2.BackupSpec{SnapshotName: "a"}}
	approved.Status.Conditions = conditions.Set(nil, v1beta2.Condition{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonReady}, noon)
	room := volumesize.Room(0)
	return facts{engine: e, run: "run-1", now: noon, backupsAt: noon, alone: true, reachable: true, room: &room,
		seen: engine.Seen{Began: noon, Replicas: []engine.Replica{{Name: "r-1", Address: "tcp://10.0.0.1:1", Mode: v1beta2.ReplicaModeRW}},
			Snapshots: map[string]v1beta2.SnapshotInfo{"a": {Name: "a"}, "b": {Name: "b", Parent: "a"}, enginesnapshot.Head: {}}},
		snapshots: map[string]*v1beta2.Snapshot{"s": requested}, backups: map[string]*v1beta2.Backup{"backup-1": approved}}
}

func TestSnapshotsAndBackupsFollowFromOnePoll(t *testing.T) {
	v := decide(rules, polled())
	require.Empty(t, v.engine.Calls)
	require.Len(t, v.engine.Status.Snapshots, 3)
	require.Equal(t, []string{"s"}, v.snapshots.Take)
	require.Equal(t, "backup-1", v.backups.Begin)
}

func TestSnapshotsAndBackupsWait(t *testing.T) {
	for name, change := range map[string]func(*facts){
		"for a call that the engine itself needs": func(f *facts) { f.engine.Spec.ReplicaAddressMap["r-2"] = "10.0.0.2:1" },
		"for an expansion":                        func(f *facts) { f.seen.Volume = &engine.Volume{Size: 1 << 30, Expanding: true} },
		"for an answer whether it expands":        func(f *facts) { f.seen.Unanswered.Volume = true },
		"for the list of snapshots":               func(f *facts) { f.seen.Snapshots, f.seen.Unanswered.Snapshots = nil, true },
		"while another engine of the volume runs": func(f *facts) { f.alone = false },
		"for a replica that is RW":                func(f *facts) { f.seen.Replicas[0].Mode = v1beta2.ReplicaModeWO },
		"while the engine is not the active one":  func(f *facts) { f.engine.Spec.Active = false },
	} {
		t.Run(name, func(t *testing.T) {
			f := polled()
			change(&f)
			v := decide(rules, f)
			require.Empty(t, v.snapshots.Take)
			require.Empty(t, v.backups.Begin)
		})
	}
}

// A Snapshot whose removal is approved: while the engine may purge, a v1 engine refuses another purge.
func TestARemovalWaitsForAnAnswerWhetherTheEnginePurges(t *testing.T) {
	f := polled()
	f.now = noon.Add(time.Hour)
	deleted := f.snapshots["s"].DeepCopy()
	deleted.Name, deleted.DeletionTimestamp = "a", &metav1.Time{Time: noon}
	deleted.Status.Conditions = conditions.Set(nil, v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonRequested}, noon)
	f.snapshots = map[string]*v1beta2.Snapshot{"a": deleted}
	f.known.snapshots = enginesnapshot.Memory{Deleting: 1, Approved: 1, Grown: noon, Gathering: noon}
	require.Equal(t, []string{"a"}, decide(rules, f).snapshots.Remove)
	f.seen.Unanswered.Purges = true
	require.Empty(t, decide(rules, f).snapshots.Remove)
}

func TestNothingIsDecidedAboutSnapshotsWhereTheFrontendCannotBeReached(t *testing.T) {
	f := polled()
	f.reachable = false
	v := decide(rules, f)
	require.Zero(t, v.snapshots)
	require.Equal(t, "backup-1", v.backups.Begin, "backups do not go through the frontend")
}

func TestASnapshotThatOnePollLacksStaysInTheStatus(t *testing.T) {
	f := polled()
	f.engine.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"gone": {Name: "gone"}}
	v := decide(rules, f)
	require.Contains(t, v.engine.Status.Snapshots, "gone")
	require.Equal(t, map[string]time.Time{"gone": noon}, v.unlisted)
	require.Equal(t, noon.Add(rules.Snapshots.Gap), v.provenAt)
	require.Equal(t, v.unlisted, v.snapshots.Memory.Unlisted)

	f.known.snapshots.Unlisted = v.unlisted
	f.seen.Began = v.provenAt
	require.NotContains(t, decide(rules, f).engine.Status.Snapshots, "gone")
	f.seen.Snapshots = nil
	require.Equal(t, f.engine.Status.Snapshots, decide(rules, f).engine.Status.Snapshots, "they were not read")
}

func TestABackupThatTheEngineDoesNotReportIsLostAfterSomePolls(t *testing.T) {
	f := polled()
	f.backups["backup-1"].Status.State, f.backups["backup-1"].Status.EngineRun = v1beta2.BackupInProgress, f.run
	require.Empty(t, decide(rules, f).backups.Changes, "it did not answer")
	f.answers = map[string]answer{"backup-1": {silent: true}}
	f.known.silent = map[string]int{"backup-1": lostCopyAfter - 2}
	require.Empty(t, decide(rules, f).backups.Changes)
	f.known.silent["backup-1"]++
	require.Equal(t, v1beta2.BackupError, decide(rules, f).backups.Changes[0].State)
	f.backups["backup-1"].Status.State, f.known.silent["backup-1"] = v1beta2.BackupPending, lostAfter-2
	require.Empty(t, decide(rules, f).backups.Begin)
	f.known.silent["backup-1"]++
	require.Equal(t, "backup-1", decide(rules, f).backups.Begin, "one that was not begun is requested again")
	f.answers["backup-1"] = answer{Answer: backup.Answer{Known: true, State: "in_progress", Percent: 30}}
	require.Equal(t, 30, decide(rules, f).backups.Changes[0].Progress)
}

// However long a poll took, the next one comes a pause after it; what was answered counts from when the engine was asked.
func TestAPollThatTookLongIsFollowedByAPause(t *testing.T) {
	f := polled()
	f.backups["backup-1"].Status.State, f.backups["backup-1"].Status.EngineRun = v1beta2.BackupPending, f.run
	f.now = noon.Add(20 * time.Second)
	require.Equal(t, f.now.Add(rules.Busy), decide(rules, f).backups.RequeueAt)
	f.answers = map[string]answer{"backup-1": {}}
	f.known.open = map[string]time.Time{"backup-1": noon.Add(time.Second)}
	require.Empty(t, decide(rules, f).backups.Begin, "the call that was open may have come after the question")
}

func TestDecidingChangesNoFacts(t *testing.T) {
	f, same := polled(), polled()
	f.known.snapshots, same.known.snapshots = enginesnapshot.Memory{Polled: true}, enginesnapshot.Memory{Polled: true}
	first := decide(rules, f)
	require.Equal(t, same, f)
	require.Equal(t, first, decide(rules, f))
}

// Most purges end within a moment; one that does not is reported, and so is one that somebody waits for.
func TestAPurgeForSnapshotsIsReportedOnceItLasts(t *testing.T) {
	const replica = "tcp://10.0.0.1:1"
	for name, test := range map[string]struct {
		change   func(*facts)
		reported bool
	}{
		"that began just now": {func(*facts) {}, false},
		"that lasts":          {func(f *facts) { f.known.snapshots.Purged["a"] = noon.Add(-rules.briefPurge()) }, true},
		"of another process":  {func(f *facts) { f.known.snapshots.Purged = nil }, true},
		"that was reported": {func(f *facts) {
			f.engine.Status.PurgeStatus = map[string]v1beta2.PurgeStatus{replica: {IsPurging: true}}
		}, true},
		"one replica of which failed": {func(f *facts) {
			f.seen.Purges["tcp://10.0.0.2:1"] = v1beta2.PurgeStatus{Error: "disk on fire"}
		}, true},
		"of a volume that is being restored": {func(f *facts) { f.engine.Spec.RequestedBackupRestore = "backup-1" }, true},
		"that has ended":                     {func(f *facts) { f.seen.Purges[replica] = v1beta2.PurgeStatus{State: "complete"} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := polled()
			f.engine.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"a": {Name: "a"}, "b": {Name: "b"}, enginesnapshot.Head: {}}
			f.seen.Snapshots["a"] = v1beta2.SnapshotInfo{Name: "a", Removed: true}
			f.seen.Purges = map[string]v1beta2.PurgeStatus{replica: {IsPurging: true, Progress: 50}}
			f.known.snapshots.Purged = map[string]time.Time{"a": noon.Add(-time.Second)}
			test.change(&f)
			going := v1beta2.IsPurging(f.seen.Purges)
			v := decide(rules, f).engine
			require.Equal(t, test.reported, v.Status.Snapshots["a"].Removed)
			require.Equal(t, "a", v.Status.Snapshots["b"].Parent, "what else changed is reported")
			require.Equal(t, test.reported, len(v.Status.PurgeStatus) > 0)
			require.Equal(t, going, v.Going, "its end is polled for")
		})
	}
}
