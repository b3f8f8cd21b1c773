package backuptargetcontroller

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/simulator/enginecli"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
)

func TestAnEmptyClusterShowsWhatATargetHas(t *testing.T) {
	w := newWorld(t)
	w.put("db", "b-1")
	w.clock.Step(time.Second)
	w.put("db", "b-2")
	w.put("web", "b-3")
	w.watched()
	w.start(cut.Point{}, nil)
	w.shows(v1beta2.ReasonListed)
	w.has([]string{"db", "web"}, []string{"b-1", "b-2", "b-3"})
	require.True(t, w.target().Status.Available)

	v := w.volume("db")
	require.Equal(t, backuplist.ObjectName("db", target), v.Name)
	require.Equal(t, "b-2", v.Status.LastBackupName)
	require.Equal(t, w.url(), v.Status.TargetURL)
	require.Equal(t, "16777216", v.Status.Size)
	b := w.backup("b-1")
	require.Equal(t, v1beta2.BackupCompleted, b.Status.State)
	require.Equal(t, "file://"+w.directory+"?backup=b-1&volume=db", b.Status.URL)
	require.Equal(t, "db", b.Status.VolumeName)
	require.Equal(t, target, b.Status.BackupTargetName)
	require.Equal(t, map[string]string{"RecurringJob": "daily"}, b.Status.Labels)
	require.Equal(t, "snap-of-b-1", b.Status.SnapshotName)
	require.Empty(t, b.Spec.SnapshotName)
	require.Equal(t, v.UID, b.OwnerReferences[0].UID)
	require.Equal(t, []string{v1beta2.Finalizer}, b.Finalizers)
	require.Equal(t, target, b.Labels[v1beta2.LabelBackupTarget])
}

// A reading asks each volume once whether it changed, and nothing more about what did not; what changed is read, and nothing beside.
func TestAReadingCostsWhatChanged(t *testing.T) {
	w := newWorld(t)
	for _, volume := range []string{"a", "b", "c"} {
		w.put(volume, volume+"-1")
		w.put(volume, volume+"-2")
	}
	w.watched()
	p := w.start(cut.Point{}, nil)
	w.shows(v1beta2.ReasonListed)
	writes, commands := len(p.Client.Writes()), enginecommand.Commands()
	w.nextTurn()
	require.EqualValues(t, 4, enginecommand.Commands()-commands, "one list, and one question for each volume")
	require.Len(t, p.Client.Writes(), writes+1, "that it was read")

	w.put("b", "b-3")
	commands = enginecommand.Commands()
	w.nextTurn()
	require.EqualValues(t, 7, enginecommand.Commands()-commands, "and of the volume that changed its list, its record and one backup")
	require.Contains(t, w.backups(), "b-3")
	require.Equal(t, "b-3", w.volume("b").Status.LastBackupName)
}

// nextTurn lets the interval pass and waits until the target is read.
func (w *world) nextTurn() {
	w.t.Helper()
	last := w.target().Status.LastSyncedAt
	w.clock.Step(5*time.Minute + time.Second)
	w.set(map[string]any{"pollInterval": "5m1s"}) // an event: the queue has the real clock
	w.reads(func(t *v1beta2.BackupTarget) bool { return t.Status.LastSyncedAt > last }, "the next reading")
	w.set(map[string]any{"pollInterval": "5m"})
}

// What another cluster removed goes here once two readings that are apart show that, and nothing is removed from the target for it.
func TestWhatIsGoneFromTheTargetGoesAfterTwoReadings(t *testing.T) {
	w := newWorld(t)
	w.put("db", "b-1")
	w.put("db", "b-2")
	w.put("old", "b-3")
	w.watched()
	w.start(cut.Point{}, nil)
	w.has([]string{"db", "old"}, []string{"b-1", "b-2", "b-3"})
	w.shows(v1beta2.ReasonListed)
	require.NoError(t, enginecli.Remove(w.url(), "db", "b-1"))
	require.NoError(t, enginecli.RemoveVolume(w.url(), "old"))
	w.request()
	w.has([]string{"db", "old"}, []string{"b-1", "b-2", "b-3"})
	w.request()
	w.has([]string{"db", "old"}, []string{"b-1", "b-2", "b-3"})
	w.clock.Step(backuplist.Apart)
	w.request()
	w.has([]string{"db"}, []string{"b-2"})
	require.Equal(t, []string{"b-2"}, w.inTarget("db"))
}

// Whatever a target answers instead of a list, no object goes.
func TestNoAnswerIsNotAnEmptyOne(t *testing.T) {
	w := listedWorld(t, "db/b-1")
	for reason, fail := range map[string]func() (mend func()){
		v1beta2.ReasonRefused: func() func() {
			w.fault("refuse: AccessDenied: Access Denied, status code: 403")
			return func() { w.fault("") }
		},
		v1beta2.ReasonEmptyAnswer: func() func() {
			require.NoError(t, os.Rename(w.directory, w.directory+"-away"))
			return func() { require.NoError(t, os.Rename(w.directory+"-away", w.directory)) }
		},
		v1beta2.ReasonNoEngineBinary: func() func() {
			require.NoError(t, os.Rename(w.program, w.program+"-away"))
			return func() { require.NoError(t, os.Rename(w.program+"-away", w.program)) }
		},
		v1beta2.ReasonCredentialsMissing: func() func() {
			w.set(map[string]any{"credentialSecret": "missing"})
			return func() { w.set(map[string]any{"credentialSecret": nil}) }
		},
	} {
		mend := fail()
		for range 3 {
			w.clock.Step(backuplist.Apart + backuplist.Retry)
			w.set(map[string]any{"syncRequestedAt": w.clock.Now().UTC().Format(time.RFC3339)})
			require.NotEmpty(t, w.shows(reason).Message)
		}
		w.has([]string{"db"}, []string{"b-1"})
		mend()
		w.clock.Step(backuplist.Retry)
		w.request()
		w.shows(v1beta2.ReasonListed)
	}
	require.Equal(t, []string{"b-1"}, w.inTarget("db"))
}

// A target gives each of its refusals another number: what it reports is written once.
func TestARefusalIsWrittenOnce(t *testing.T) {
	said := func(reason, message string, generation int64) v1beta2.Condition {
		return v1beta2.Condition{Reason: reason, Message: message, ObservedGeneration: generation}
	}
	before := said(v1beta2.ReasonRefused, "AccessDenied, request 4711A", 1)
	require.True(t, isRepeated(&before, said(v1beta2.ReasonRefused, "AccessDenied, request 4712B", 1)))
	require.False(t, isRepeated(&before, said(v1beta2.ReasonRefused, "NoSuchBucket, request 4712B", 1)))
	require.False(t, isRepeated(&before, said(v1beta2.ReasonTimedOut, "AccessDenied, request 4711A", 1)))
	require.False(t, isRepeated(&before, said(v1beta2.ReasonRefused, "AccessDenied, request 4711A", 2)))
	require.False(t, isRepeated(nil, before))
}

// Half an answer is none: the volumes that it left out stay.
func TestHalfAnAnswerIsNone(t *testing.T) {
	w := listedWorld(t, "db/b-1")
	w.fault("half")
	w.clock.Step(backuplist.Retry)
	w.set(map[string]any{"syncRequestedAt": w.clock.Now().UTC().Format(time.RFC3339)})
	require.Contains(t, w.shows(v1beta2.ReasonRefused).Message, "cannot be read")
	w.has([]string{"db"}, []string{"b-1"})
}

// A target that hangs keeps no other one from being read.
func TestATargetThatHangsDisturbsNoOther(t *testing.T) {
	w := newWorld(t)
	w.put("db", "b-1")
	hung := t.TempDir()
	require.NoError(t, enginecli.Put("file://"+hung, enginecli.Stored{Name: "x", Volume: "y", Created: time.Now()}))
	require.NoError(t, os.WriteFile(hung+"/"+enginecli.FaultFile, []byte("hang"), 0o600))
	w.create(&v1beta2.BackupTarget{ObjectMeta: w.meta("hung"),
		Spec: v1beta2.BackupTargetSpec{BackupTargetURL: "file://" + hung, PollInterval: "5m"}})
	w.start(cut.Point{}, nil)
	w.watched()
	w.shows(v1beta2.ReasonListed)
	w.has([]string{"db"}, []string{"b-1"})
}

// A target that points elsewhere since says nothing about what was found before; a target without a URL has no objects.
func TestObjectsOfAnEarlierURLStayAndThoseOfNoURLGo(t *testing.T) {
	w := listedWorld(t, "db/b-1")
	other := t.TempDir()
	require.NoError(t, enginecli.Put("file://"+other, enginecli.Stored{Name: "c-1", Volume: "new", Created: time.Now(), Text: "x"}))
	w.set(map[string]any{"backupTargetURL": "file://" + other})
	for range 3 {
		w.clock.Step(backuplist.Apart)
		w.request()
	}
	w.has([]string{"db", "new"}, []string{"b-1", "c-1"})
	require.Contains(t, w.shows(v1beta2.ReasonListed).Message, "1 BackupVolumes are of an earlier URL")
	w.set(map[string]any{"backupTargetURL": ""})
	w.has(nil, nil)
	require.Equal(t, []string{"b-1"}, w.inTarget("db"))
	require.Equal(t, []string{"c-1"}, enginecli.Names("file://"+other, "new"))
}

// What is not whole yet is not shown, and read again; what cannot be read is reported.
func TestABackupThatIsStillTakenIsShownOnceItIsWhole(t *testing.T) {
	w := newWorld(t)
	w.put("db", "b-1")
	require.NoError(t, enginecli.Put(w.url(), enginecli.Stored{Name: "b-2", Volume: "db", Unfinished: true}))
	w.watched()
	w.start(cut.Point{}, nil)
	w.shows(v1beta2.ReasonListed)
	w.has([]string{"db"}, []string{"b-1"})
	w.put("db", "b-2")
	w.nextTurn()
	w.has([]string{"db"}, []string{"b-1", "b-2"})
	require.NoError(t, os.WriteFile(w.directory+"/volumes/db/backups/b-9.json", []byte("garbage"), 0o600))
	w.request()
	require.Contains(t, w.shows(v1beta2.ReasonListedInPart).Message, "backup b-9 of volume db")
	w.has([]string{"db"}, []string{"b-1", "b-2"})
}

// A Backup that this cluster took keeps what im-monitor recorded of it, and gets what only the target knows.
func TestAnOwnBackupIsCompletedFromTheTarget(t *testing.T) {
	w := newWorld(t)
	w.put("db", "own")
	b := &v1beta2.Backup{ObjectMeta: w.meta("own"), Spec: v1beta2.BackupSpec{SnapshotName: "snap"}}
	b.Finalizers = []string{v1beta2.Finalizer}
	w.create(b)
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, b, map[string]any{"state": v1beta2.BackupCompleted, "url": w.url() +
		"?backup=own&volume=db", "volumeName": "db", "backupTargetName": target, "size": "1234", "engineRun": "run"}))
	w.watched()
	w.start(cut.Point{}, nil)
	w.shows(v1beta2.ReasonListed)
	b = w.backup("own")
	require.Equal(t, "1234", b.Status.Size)
	require.Equal(t, "14", b.Status.NewlyUploadDataSize)
	require.NotEmpty(t, b.Status.LastSyncedAt)
	require.Empty(t, b.OwnerReferences)
}

// An object of another volume or target that has the name of a backup is left alone.
func TestAnotherObjectOfTheNameIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.put("db", "b-1")
	b := &v1beta2.Backup{ObjectMeta: w.meta("b-1")}
	w.create(b)
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, b, map[string]any{"state": v1beta2.BackupCompleted,
		"url": "s3://b@r/?backup=b-1&volume=x", "volumeName": "x", "backupTargetName": "other"}))
	w.watched()
	w.start(cut.Point{}, nil)
	require.Contains(t, w.shows(v1beta2.ReasonListedInPart).Message, "is of another volume or URL")
	require.Equal(t, "x", w.backup("b-1").Status.VolumeName)
}
