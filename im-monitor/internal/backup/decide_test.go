package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const thisRun, otherRun = "run-1", "run-0"

// world is a quiet engine with one snapshot, at which these Backups are polled.
func world(list ...Backup) World {
	return World{
		AskedAt: noon, Now: noon, Run: thisRun, Usable: true, Listed: map[string]v1beta2.SnapshotInfo{"snap": {Name: "snap"}}, Backups: list,
		Answers: map[string]Answer{}, ElectedAt: noon.Add(-time.Hour), FencingDelayEnds: noon.Add(-time.Hour + time.Minute),
		Pause: time.Second,
	}
}

func approved(name string) Backup {
	return Backup{Name: name, Snapshot: "snap", Created: noon.Add(-time.Minute), Approved: true}
}

func deleted(b *Backup) { b.Deleting = true }

func v2(w *World) { w.V2 = true }

// begun is one that a run was asked for some time ago.
func begun(name, run, state string, ago time.Duration) Backup {
	b := approved(name)
	b.State, b.Run, b.Requested = state, run, noon.Add(-ago)
	return b
}

// copiedBy is one that a replica copied the last time that the engine answered.
func copiedBy(replica string) Backup {
	b := begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)
	b.Replica, b.Progress = replica, 40
	return b
}

func answers(w World, name string, a Answer) World {
	w.Answers[name] = a
	return w
}

func with(w World, change func(*World)) World {
	change(&w)
	return w
}

func TestDecide(t *testing.T) {
	pause := noon.Add(time.Second)
	for name, test := range map[string]struct {
		world World
		want  Verdict
	}{
		"an approved one is begun":       {world(approved("a")), Verdict{Begin: "a"}},
		"one that is not approved waits": {world(with1(approved("a"), func(b *Backup) { b.Approved = false })), Verdict{}},
		"a deleted one is not begun":     {world(with1(approved("a"), deleted)), Verdict{}},
		"a deleted one that is copied is followed, and the next waits": {
			answers(world(with1(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute), deleted), approved("b")),
				"a", Answer{Known: true, State: "in_progress", Percent: 50}),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupInProgress, Progress: 50}}, RequeueAt: pause}},
		"a deleted one that the engine forgot is over, and the next begins": {
			answers(world(with1(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute), deleted), approved("b")), "a", Answer{}),
			Verdict{Changes: []Change{{Name: "a"}}, Begin: "b"}},
		"a deleted one whose call may be under way is held": {
			with(answers(world(with1(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour), deleted)), "a", Answer{}),
				func(w *World) { w.FencingDelayEnds = noon.Add(time.Minute) }),
			Verdict{RequeueAt: noon.Add(time.Minute)}},
		"a deleted one that no engine began is over": {
			answers(world(with1(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour), deleted)), "a", Answer{}),
			Verdict{Changes: []Change{{Name: "a"}}}},
		"a deleted one of an earlier run is over": {world(with1(begun("a", otherRun, v1beta2.BackupInProgress, time.Hour), deleted)),
			Verdict{Changes: []Change{{Name: "a"}}}},
		"a deleted one of another run may still be copied where another engine runs": {
			with(world(with1(begun("a", otherRun, v1beta2.BackupInProgress, time.Hour), deleted)), func(w *World) { w.Usable = false }),
			Verdict{}},
		"the older of two is begun first": {world(approved("b"),
			with1(approved("c"), func(b *Backup) { b.Created = noon.Add(-time.Hour) })), Verdict{Begin: "c"}},
		"while one is copied the others wait": {answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute), approved("b")),
			"a", Answer{Known: true, State: "in_progress"}), Verdict{RequeueAt: pause}},
		"an engine that is not alone waits":     {with(world(approved("a")), func(w *World) { w.Usable = false }), Verdict{RequeueAt: pause}},
		"an engine that is busy waits":          {with(world(approved("a")), func(w *World) { w.Busy = true }), Verdict{RequeueAt: pause}},
		"a snapshot that is not listed waits":   {with(world(approved("a")), func(w *World) { w.Listed = nil }), Verdict{}},
		"an engine that did not answer is held": {world(begun("a", thisRun, v1beta2.BackupPending, time.Second)), Verdict{RequeueAt: pause}},
		"one that an earlier leader had begun is adopted": {
			answers(world(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour)), "a",
				Answer{Known: true, State: "in_progress", Percent: 37, Replica: "tcp://r"}),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupInProgress, Replica: "tcp://r", Progress: 30}}, RequeueAt: pause}},
		"one that an earlier leader may still call for is not begun again": {
			with(answers(world(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour)), "a", Answer{}),
				func(w *World) { w.FencingDelayEnds = noon.Add(time.Minute) }),
			Verdict{RequeueAt: noon.Add(time.Minute)}},
		"one that an earlier leader did not come to is begun": {
			answers(world(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour)), "a", Answer{}), Verdict{Begin: "a"}},
		"one that no replica of a v2 engine reports is not begun again by that instance": {
			with(answers(world(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour)), "a", Answer{}), v2),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupError, Error: "The engine did not answer the request, and none of " +
				"its replicas reports the backup. One of them may copy all the same, so it is not requested a second time of this " +
				"instance; create another Backup."}}}},
		"one that a v2 engine may yet get is held": {
			with(with(answers(world(begun("a", thisRun, v1beta2.BackupPending, 2*time.Hour)), "a", Answer{}), v2),
				func(w *World) { w.FencingDelayEnds = noon.Add(time.Minute) }),
			Verdict{RequeueAt: noon.Add(time.Minute)}},
		"one that an earlier v2 instance was requested to take is begun by the next": {
			with(world(begun("a", otherRun, v1beta2.BackupPending, time.Hour)), v2), Verdict{Begin: "a"}},
		"one whose call was not answered is held until that can be over": {
			with(answers(world(begun("a", thisRun, v1beta2.BackupPending, time.Second)), "a", Answer{}),
				func(w *World) { w.Open = map[string]time.Time{"a": noon.Add(9 * time.Second)} }),
			Verdict{RequeueAt: noon.Add(9 * time.Second)}},
		"one that was copied by a run that ended is begun again": {world(begun("a", otherRun, v1beta2.BackupInProgress, time.Hour)),
			Verdict{Begin: "a"}},
		"one that the engine has lost has failed": {
			answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)), "a", Answer{}),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupError,
				Error: "The engine does not know the backup any more that it had begun; create another Backup."}}}},
		"one whose replica is not in mode RW any more is lost, however the engine is asked": {
			with(world(copiedBy("tcp://10.0.0.9:1")), func(w *World) { w.RW = []string{"tcp://10.0.0.1:1"} }),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupError, Replica: "tcp://10.0.0.9:1", Progress: 40,
				Error: "The engine does not use the replica at tcp://10.0.0.9:1 any more, which copied the backup: the copy is lost; " +
					"create another Backup."}}}},
		"the same, where the engine answered that it reports none": {
			with(answers(world(copiedBy("10.0.0.9:1"), approved("b")), "a", Answer{}), func(w *World) { w.RW = nil }),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupError, Replica: "10.0.0.9:1", Progress: 40,
				Error: "The engine does not use the replica at 10.0.0.9:1 any more, which copied the backup: the copy is lost; " +
					"create another Backup."}}, Begin: "b"}},
		"a deleted one whose replica is gone is over": {
			world(with1(copiedBy("tcp://10.0.0.9:1"), deleted)),
			Verdict{Changes: []Change{{Name: "a", Replica: "tcp://10.0.0.9:1", Progress: 40}}}},
		"one whose replica is in mode RW is held while the engine does not answer": {
			with(world(copiedBy("10.0.0.9:1")), func(w *World) { w.RW = []string{"tcp://10.0.0.9:1"} }), Verdict{RequeueAt: pause}},
		"the last answer counts for more than that the replica left": {
			answers(world(copiedBy("tcp://10.0.0.9:1")), "a", Answer{Known: true, State: "complete", URL: "nfs://x?backup=a"}),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupCompleted, URL: "nfs://x?backup=a", Progress: 100,
				Replica: "tcp://10.0.0.9:1"}}}},
		"the end is reported with the URL": {
			answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)), "a",
				Answer{Known: true, State: "complete", Percent: 100, URL: "nfs://x?backup=a"}),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupCompleted, URL: "nfs://x?backup=a", Progress: 100}}}},
		"a failure is reported, and the next one begun": {
			answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute), approved("b")), "a",
				Answer{Known: true, State: "error", Error: "no space"}),
			Verdict{Changes: []Change{{Name: "a", State: v1beta2.BackupError, Error: "no space"}}, Begin: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Decide(test.world))
		})
	}
}

// An answer counts from when the engine was asked, and the next poll comes a pause after this one, however long this one took.
func TestAPollThatTookLong(t *testing.T) {
	later := noon.Add(20 * time.Second)
	w := answers(world(begun("a", thisRun, v1beta2.BackupPending, time.Second)), "a", Answer{})
	w.Now, w.Open = later, map[string]time.Time{"a": noon.Add(9 * time.Second)}
	require.Empty(t, Decide(w).Begin, "the engine may have begun it after it was asked")
	w = answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)), "a", Answer{Known: true, State: "in_progress"})
	w.Now = later
	require.Equal(t, later.Add(w.Pause), Decide(w).RequeueAt)
	w = with(world(approved("a")), func(w *World) { w.Now, w.Busy = later, true })
	require.Equal(t, later.Add(w.Pause), Decide(w).RequeueAt)
}

func with1(b Backup, change func(*Backup)) Backup {
	change(&b)
	return b
}

// Progress that continues within a step is no write.
func TestProgressIsToldInSteps(t *testing.T) {
	b := begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)
	b.Progress, b.Replica = 30, "tcp://r"
	w := answers(world(b), "a", Answer{Known: true, State: "in_progress", Percent: 39, Replica: "tcp://r"})
	require.Empty(t, Decide(w).Changes)
	require.Len(t, Decide(answers(w, "a", Answer{Known: true, State: "in_progress", Percent: 41})).Changes, 1)
}

// SNP-2, for backups: nothing is begun that is deleted, or of which this run of the engine may know, or may yet hear; nothing that ended is
// touched; and never two at a time.
func TestNothingIsBegunTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []string{"", v1beta2.BackupNew, v1beta2.BackupPending, v1beta2.BackupInProgress, v1beta2.BackupCompleted,
			v1beta2.BackupError}
		var list []Backup
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, Backup{
				Name: name, Snapshot: rapid.SampledFrom([]string{"snap", "gone"}).Draw(t, "snapshot"),
				Created:  noon.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "age")) * time.Minute),
				Deleting: rapid.Bool().Draw(t, "deleting"), Approved: rapid.Bool().Draw(t, "approved"),
				State:     rapid.SampledFrom(states).Draw(t, "state"),
				Run:       rapid.SampledFrom([]string{"", thisRun, otherRun}).Draw(t, "run"),
				Requested: noon.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "asked")) * time.Minute),
				Replica:   rapid.SampledFrom([]string{"", "tcp://r", "tcp://gone"}).Draw(t, "replica"),
			})
		}
		w := world(list...)
		w.RW = []string{"tcp://r"}
		w.FencingDelayEnds = noon.Add(time.Duration(rapid.IntRange(-60, 60).Draw(t, "post-election delay")) * time.Minute)
		w.Usable, w.Busy, w.V2 = rapid.Bool().Draw(t, "usable"), rapid.Bool().Draw(t, "busy"), rapid.Bool().Draw(t, "v2")
		for _, b := range Ask(thisRun, list) {
			if rapid.Bool().Draw(t, "answered") {
				w.Answers[b.Name] = Answer{Known: rapid.Bool().Draw(t, "known"),
					State:   rapid.SampledFrom([]string{"in_progress", "complete", "error"}).Draw(t, "work"),
					Percent: rapid.IntRange(0, 100).Draw(t, "percent")}
			}
		}
		v := Decide(w)
		require.Equal(t, v, Decide(w))
		if v.Begin != "" {
			require.True(t, w.Usable && !w.Busy)
		}
		for _, b := range list {
			a, answered := w.Answers[b.Name]
			if b.Name == v.Begin {
				require.True(t, b.Approved && !b.Deleting && !b.ended() && b.Snapshot == "snap")
				require.False(t, b.begunBy(thisRun) && (!answered || a.Known || b.State == v1beta2.BackupInProgress))
				require.False(t, b.begunBy(thisRun) && b.Requested.Before(w.ElectedAt) && noon.Before(w.FencingDelayEnds))
				require.False(t, b.begunBy(thisRun) && w.V2)
			}
			if v.Begin != "" && b.Name != v.Begin && !b.ended() && b.begunBy(thisRun) && answered && a.Known {
				require.NotEqual(t, "in_progress", a.State, "two at a time")
			}
		}
		for _, c := range v.Changes {
			for _, b := range list {
				require.False(t, b.Name == c.Name && b.ended())
			}
		}
	})
}

// The engine does not tell the size: it is that of the snapshot and those below it.
func TestACompletedBackupHasTheSizeOfItsSnapshotAndThoseBelowIt(t *testing.T) {
	chain := map[string]v1beta2.SnapshotInfo{
		"snap": {Parent: "older", Size: "4096"}, "older": {Parent: "oldest", Size: "8192", Removed: true}, "oldest": {Size: "1048576"},
		"newer": {Parent: "snap", Size: "12288"}, "volume-head": {Parent: "newer", Size: "16384"},
	}
	size := func(listed map[string]v1beta2.SnapshotInfo) string {
		w := answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)), "a", Answer{Known: true, State: "complete"})
		w.Listed = listed
		return Decide(w).Changes[0].Size
	}
	require.Equal(t, "1060864", size(chain))
	for name, listed := range map[string]map[string]v1beta2.SnapshotInfo{
		"its snapshot is not listed any more": {"newer": {Size: "1"}}, "one below it is not listed": {"snap": {Parent: "gone", Size: "1"}},
		"no size is reported": {"snap": {}}, "the chain has no end": {"snap": {Parent: "older", Size: "1"},
			"older": {Parent: "snap", Size: "1"}},
	} {
		require.Empty(t, size(listed), name)
	}
}

// The size is written once, with the end of the backup.
func TestACompletedBackupWaitsForTheListOfSnapshots(t *testing.T) {
	w := answers(world(begun("a", thisRun, v1beta2.BackupInProgress, time.Minute)), "a", Answer{Known: true, State: "complete"})
	w.Listed = nil
	require.Equal(t, Verdict{RequeueAt: noon.Add(time.Second)}, Decide(w))
}

func TestOnlyABackupThatIsApprovedOrBegunAsksAnEngine(t *testing.T) {
	for state, want := range map[string]bool{"": true, v1beta2.BackupPending: true, v1beta2.BackupInProgress: true,
		v1beta2.BackupCompleted: false, v1beta2.BackupError: false} {
		require.Equal(t, want, Wants(Backup{Approved: true, State: state}), state)
		require.Equal(t, want && state != "", Wants(Backup{Approved: true, Deleting: true, State: state}),
			"a copy is followed to its end: %s", state)
		require.Equal(t, want && state != "", Wants(Backup{State: state}), "what was begun is followed without an approval: %s", state)
	}
}
