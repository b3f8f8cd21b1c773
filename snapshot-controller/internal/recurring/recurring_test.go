package recurring

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// world has a job of every hour, first seen a minute before noon, and this many volumes that name it.
func world(volumes ...string) World {
	w := World{Now: noon, Job: &v1beta2.RecurringJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hourly", UID: "job", Generation: 1,
			CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute))},
		Spec:   v1beta2.RecurringJobSpec{Task: v1beta2.RecurringTaskSnapshot, Cron: "0 * * * *", Retain: 2, Concurrency: 2},
		Status: v1beta2.RecurringJobStatus{ScheduledSince: format(noon.Add(-time.Minute))},
	}}
	for _, name := range volumes {
		w.Volumes = append(w.Volumes, volume(name, v1beta2.LabelRecurringJobPrefix+"hourly"))
	}
	return w
}

func volume(name string, labels ...string) *v1beta2.Volume {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name),
		Labels: map[string]string{}}}
	v.Status.State = v1beta2.VolumeStateAttached
	for _, l := range labels {
		v.Labels[l] = v1beta2.RecurringEnabled
	}
	return v
}

// decide combines what the reconciler does one after the other: what the run does, and what is not kept.
func decide(w World) Verdict {
	v := Decide(w)
	snapshots, backups := Surplus(w)
	v.Delete, v.DeleteBackups = append(v.Delete, snapshots...), append(v.DeleteBackups, backups...)
	return v
}

// done applies the verdict, as the reconciler and the API server do.
func (w *World) done(v Verdict) {
	job := w.Job.DeepCopy()
	if v.Write {
		job.Status = v.Status
	}
	w.Job = job
	for _, s := range v.Create {
		made := s.DeepCopy()
		made.CreationTimestamp = metav1.NewTime(w.Now)
		w.Snapshots = append(w.Snapshots, made)
	}
	for _, b := range v.BackUp {
		made := b.DeepCopy()
		made.CreationTimestamp = metav1.NewTime(w.Now)
		w.Backups = append(w.Backups, made)
	}
	for _, gone := range v.DeleteBackups {
		w.Backups = slices.DeleteFunc(w.Backups, func(b *v1beta2.Backup) bool { return b.Name == gone.Name })
	}
	for _, gone := range v.Delete {
		var kept []*v1beta2.Snapshot
		for _, s := range w.Snapshots {
			if s.Name != gone.Name {
				kept = append(kept, s)
			}
		}
		w.Snapshots = kept
	}
}

// taken makes every Snapshot that is not ready ready.
func (w *World) taken() {
	for _, s := range w.Snapshots {
		if s.Status.CreationTime == "" {
			s.Status.CreationTime = format(w.Now)
			shows(s, v1beta2.ReasonReady)
		}
	}
}

// copied brings every Backup to an end that has none.
func (w *World) copied(state string) {
	for _, b := range w.Backups {
		if !v1beta2.IsBackupEnded(b) {
			b.Status.State = state
			if state == v1beta2.BackupCompleted {
				b.Status.BackupCreatedAt = format(w.Now)
			}
		}
	}
}

func shows(s *v1beta2.Snapshot, reason string) {
	c := v1beta2.Condition{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: reason}
	if reason == v1beta2.ReasonReady {
		c.Status = v1beta2.ConditionTrue
	}
	s.Status.Conditions = conditions.Set(s.Status.Conditions, c, noon)
}

// runs plays until nothing is to be done now.
func (w *World) runs(t require.TestingT) {
	for range 1000 {
		v := decide(*w)
		if !v.Write && len(v.Create)+len(v.Delete)+len(v.BackUp)+len(v.DeleteBackups) == 0 && w.Job.Status.CurrentRun == "" {
			return
		}
		w.done(v)
		w.taken()
		w.copied(v1beta2.BackupCompleted)
	}
	require.Fail(t, "it comes to no end")
}

func TestHowAJobStands(t *testing.T) {
	tests := []struct {
		name, reason, shows string
		change              func(*World)
	}{
		{"one that has not run yet", v1beta2.ReasonScheduled, "It has not run yet; the next is due at 2026-08-01T12:00:00Z.",
			func(w *World) { w.Now = noon.Add(-time.Second) }},
		{"one whose time has come", v1beta2.ReasonScheduled,
			"The run of 2026-08-01T12:00:00Z is under way; the next is due at 2026-08-01T13:00:00Z.", func(*World) {}},
		{"a run without volumes is over at once", v1beta2.ReasonScheduled,
			"The last run was that of 2026-08-01T12:00:00Z; the next is due at 2026-08-01T13:00:00Z.", func(w *World) { w.Volumes = nil }},
		{"a time zone", v1beta2.ReasonScheduled, "the next is due at 2026-08-02T01:00:00Z.",
			func(w *World) { w.Job.Spec.Cron = "CRON_TZ=Europe/Berlin 0 3 * * *" }},
		{"no cron", v1beta2.ReasonBadCron, "it is empty", func(w *World) { w.Job.Spec.Cron = "" }},
		{"too few fields", v1beta2.ReasonBadCron, "expected exactly 5 fields", func(w *World) { w.Job.Spec.Cron = "* *" }},
		{"a minute that no hour has", v1beta2.ReasonBadCron, "above maximum (59): 61", func(w *World) { w.Job.Spec.Cron = "61 * * * *" }},
		{"a zone that is none", v1beta2.ReasonBadCron, "Atlantis", func(w *World) { w.Job.Spec.Cron = "CRON_TZ=Atlantis 0 3 * * *" }},
		{"a zone alone", v1beta2.ReasonBadCron, "no fields follow", func(w *World) { w.Job.Spec.Cron = "TZ=UTC" }},
		{"a day that no year has", v1beta2.ReasonBadCron, "never comes", func(w *World) { w.Job.Spec.Cron = "0 0 30 2 *" }},
		{"at a distance from its beginning", v1beta2.ReasonScheduled, "It has not run yet; the next is due at 2026-08-01T12:04:00Z.",
			func(w *World) { w.Job.Spec.Cron = "@every 5m" }},
		{"a trim", v1beta2.ReasonUnsupported, "run fstrim where it is mounted", func(w *World) { w.Job.Spec.Task = "filesystem-trim" }},
		{"a backup of the system", v1beta2.ReasonUnsupported, "by other means", func(w *World) { w.Job.Spec.Task = "system-backup" }},
		{"no task", v1beta2.ReasonUnsupported, `Task ""`, func(w *World) { w.Job.Spec.Task = "" }},
		{"an interval that is none", v1beta2.ReasonUnsupported, `full-backup-interval is "often"`, func(w *World) {
			w.Job.Spec.Parameters = map[string]string{"full-backup-interval": "often"}
		}},
		{"removing all", v1beta2.ReasonUnsupported, "retain of 1 or more", func(w *World) {
			w.Job.Spec.Task, w.Job.Spec.Retain = v1beta2.RecurringTaskSnapshotDelete, 0
		}},
		{"kept by no age", v1beta2.ReasonUnsupported, "spec.retainAge", func(w *World) { w.Job.Spec.RetentionPolicy = policyAge }},
		{"kept by age", v1beta2.ReasonScheduled, "under way",
			func(w *World) { w.Job.Spec.RetentionPolicy, w.Job.Spec.RetainAge = policyAge, "72h" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := world("a")
			test.change(&w)
			v := decide(w)
			require.True(t, v.Write)
			require.Equal(t, test.reason, v.Reason)
			require.Contains(t, v.Message, test.shows)
			require.Equal(t, test.reason == v1beta2.ReasonScheduled, conditions.IsTrue(v.Status.Conditions, v1beta2.RecurringJobReady))
			require.Empty(t, v.Create, "a run is noted before anything of it is made")
			require.Empty(t, v.Delete)
		})
	}
}

func TestWhichVolumesAJobIsFor(t *testing.T) {
	job, group := v1beta2.LabelRecurringJobPrefix, v1beta2.LabelRecurringGroupPrefix
	on := func(label string) map[string]string { return map[string]string{label: v1beta2.RecurringEnabled} }
	tests := []struct {
		name   string
		groups []string
		labels map[string]string
		is     bool
	}{
		{"one that names it", nil, on(job + "hourly"), true},
		{"one that names another", []string{"default"}, on(job + "daily"), false},
		{"one of its group", []string{"gold"}, on(group + "gold"), true},
		{"one of another group", []string{"gold", "default"}, on(group + "silver"), false},
		{"one that names nothing, for the default group", []string{"default"}, nil, true},
		{"one that names nothing, without the default group", []string{"gold"}, nil, false},
		{"one that names the default group", []string{"default"}, on(group + "default"), true},
		{"a label that is not enabled is none", []string{"default"}, map[string]string{job + "daily": "disabled"}, true},
		{"its label, not enabled", nil, map[string]string{job + "hourly": "disabled"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := world()
			w.Job.Spec.Groups = test.groups
			require.Equal(t, test.is, IsFor(w.Job, test.labels))
		})
	}
}

func TestARun(t *testing.T) {
	w := world("a", "b", "c")
	w.done(decide(w))
	require.Equal(t, "2026-08-01T12:00:00Z", w.Job.Status.CurrentRun)
	v := decide(w)
	require.Len(t, v.Create, 2, "no more at once than its concurrency")
	s := v.Create[0]
	require.Equal(t, "a", s.Spec.Volume)
	require.True(t, s.Spec.CreateSnapshot)
	require.Equal(t, "hourly", s.Spec.Labels[v1beta2.LabelRecurringJob])
	require.Equal(t, []string{v1beta2.Finalizer}, s.Finalizers)
	require.True(t, strings.HasPrefix(s.Name, "hourly-"), s.Name)
	w.done(v)
	v = decide(w)
	require.Empty(t, v.Create)
	require.False(t, v.Write)
	require.Equal(t, noon.Add(patience), v.Enqueue)
	w.taken()
	w.done(decide(w))
	require.Len(t, w.Snapshots, 3)
	w.taken()
	w.done(decide(w))
	require.Equal(t, "2026-08-01T12:00:00Z", w.Job.Status.LastRun)
	require.Empty(t, w.Job.Status.CurrentRun)
	require.Equal(t, 1, w.Job.Status.ExecutionCount)
	require.Equal(t, noon.Add(time.Hour), decide(w).Enqueue, "it is requeued exactly at its next run")
}

func TestAnyNumberOfMissedRunsIsMadeGoodOnce(t *testing.T) {
	for _, cron := range []string{"* * * * *", "0 * * * *", "0 0 * * *", "0 0 1 * *", "0 0 1 1 *", "@every 7h"} {
		w := world("a")
		w.Job.Spec.Cron = cron
		w.Job.Status.ScheduledSince = format(noon.AddDate(-3, 0, 0))
		w.runs(t)
		require.Equal(t, 1, w.Job.Status.ExecutionCount, cron)
		require.Len(t, w.Snapshots, 1, cron)
	}
}

// A job that is seen for the first time, as when a cluster is taken over, runs at its next time and not at once, however old it is
// whatever else it contains.
func TestFirstSightIsTheBeginning(t *testing.T) {
	for name, change := range map[string]func(*World){
		"one of Longhorn's": func(w *World) {
			w.Job.Status = v1beta2.RecurringJobStatus{ExecutionCount: 400,
				OwnerID: "node-1"}
		},
		"one that can be read from now on only": func(w *World) { w.Job.Status = v1beta2.RecurringJobStatus{ScheduledSince: "rubbish"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := world("a")
			change(&w)
			w.Job.CreationTimestamp = metav1.NewTime(noon.AddDate(-1, 0, 0))
			before := w.Job.Status.ExecutionCount
			w.runs(t)
			require.Empty(t, w.Snapshots)
			require.Equal(t, before, w.Job.Status.ExecutionCount)
			require.Equal(t, "2026-08-01T12:00:00Z", w.Job.Status.ScheduledSince)
			w.Now = noon.Add(90 * time.Minute) // the process that saw it did not live that long
			w.runs(t)
			require.Equal(t, "2026-08-01T13:00:00Z", w.Job.Status.LastRun)
			require.Len(t, w.Snapshots, 1)
			require.Equal(t, "2026-08-01T12:00:00Z", w.Job.Status.ScheduledSince)
		})
	}
}

// A time that a leader wrote whose clock was ahead silences no job: it counts as now, and is written so.
func TestTimesFromTheFutureCountAsNow(t *testing.T) {
	for name, test := range map[string]struct {
		status v1beta2.RecurringJobStatus
		since  string
		runs   int
	}{
		"the last run":          {v1beta2.RecurringJobStatus{LastRun: "2027-01-01T00:00:00Z", ExecutionCount: 1}, "2026-08-01T12:00:00Z", 1},
		"the first sight":       {v1beta2.RecurringJobStatus{ScheduledSince: "2027-01-01T00:00:00Z"}, "2026-08-01T12:00:00Z", 1},
		"a run under way":       {v1beta2.RecurringJobStatus{CurrentRun: "2027-01-01T00:00:00Z"}, "2026-08-01T12:00:00Z", 2},
		"a small difference is": {v1beta2.RecurringJobStatus{LastRun: "2026-08-01T12:09:00Z"}, "2026-08-01T12:09:00Z", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := world("a")
			w.Job.Status = test.status
			w.runs(t)
			is := w.Job.Status
			if is.LastRun != "" {
				require.Equal(t, test.since, is.LastRun)
			} else {
				require.Equal(t, test.since, is.ScheduledSince)
			}
			v := decide(w)
			require.Equal(t, noon.Add(time.Hour), v.Enqueue)
			require.False(t, v.Write)
			w.Now = v.Enqueue
			w.runs(t)
			require.Equal(t, "2026-08-01T13:00:00Z", w.Job.Status.LastRun)
			require.Len(t, w.Snapshots, test.runs)
		})
	}
}

func TestAtADistanceFromTheLastRun(t *testing.T) {
	w := world("a")
	w.Job.Spec.Cron = "@every 45m"
	w.Now = noon.Add(2 * time.Hour)
	w.runs(t)
	require.Equal(t, "2026-08-01T13:29:00Z", w.Job.Status.LastRun, "two of its times have passed, and the later one counts")
	require.Equal(t, noon.Add(134*time.Minute), decide(w).Enqueue)
}

func TestOneThatCannotBeTakenDoesNotHoldUpTheOthersForEver(t *testing.T) {
	w := world("a", "b")
	w.Job.Spec.Concurrency = 0
	w.done(decide(w))
	w.done(decide(w))
	shows(w.Snapshots[0], v1beta2.ReasonWaitingForAttach)
	require.Empty(t, decide(w).Create, "an absent concurrency is one")
	w.Now = decide(w).Enqueue
	w.done(decide(w))
	require.Equal(t, "b", w.Snapshots[1].Spec.Volume)
	shows(w.Snapshots[1], v1beta2.ReasonReady)
	w.Snapshots[1].Status.CreationTime = format(w.Now)
	w.done(decide(w))
	require.Equal(t, 1, w.Job.Status.ExecutionCount)

	w.Now = noon.Add(time.Hour)
	w.done(decide(w))
	w.done(decide(w))
	require.Len(t, w.Snapshots, 3)
	require.Equal(t, "b", w.Snapshots[2].Spec.Volume, "a volume that still waits for one gets no second")
}

// Users who have a detached volume attached for its backups report it by a setting; without it a run passes it over.
func TestARunPassesADetachedVolumeOver(t *testing.T) {
	for _, task := range tasks {
		w := pruning(task, "a", "b")
		w.Volumes[0].Status.State = v1beta2.VolumeStateDetached
		for i := range w.Volumes {
			w.stored("old-"+w.Volumes[i].Name, i, 20, true)
			w.stored("new-"+w.Volumes[i].Name, i, 10, true)
			w.stored("system-"+w.Volumes[i].Name, i, 30, false)
		}
		w.Job.Spec.Retain = 1
		v := Decide(w)
		for _, s := range append(v.Create, v.Delete...) {
			require.Equal(t, "b", s.Spec.Volume, task)
		}
		require.Len(t, append(v.Create, v.Delete...), 1, task)
		w.Volumes = w.Volumes[:1]
		now, forGood := IsFinished(w)
		require.True(t, now && forGood, task)
		w.WhileDetached = true
		v = Decide(w)
		require.Len(t, append(v.Create, v.Delete...), 1, task)
		now, _ = IsFinished(w)
		require.False(t, now, task)
	}
}

// A snapshot in the chain of a volume that is filled would end its filling.
func TestARunPassesAVolumeOverThatIsFilled(t *testing.T) {
	for name, change := range map[string]func(*v1beta2.Volume){
		"standby":               func(v *v1beta2.Volume) { v.Spec.Standby = true },
		"not activated yet":     func(v *v1beta2.Volume) { v.Status.IsStandby = true },
		"restored":              func(v *v1beta2.Volume) { v.Status.RestoreRequired = true },
		"copied from another":   func(v *v1beta2.Volume) { v.Status.CloneStatus.State = v1beta2.CloneInitiated },
		"restored and detached": func(v *v1beta2.Volume) { v.Status.RestoreRequired, v.Status.State = true, v1beta2.VolumeStateDetached },
	} {
		t.Run(name, func(t *testing.T) {
			for _, task := range tasks {
				w := pruning(task, "a")
				w.Job.Spec.Retain, w.WhileDetached = 1, true
				w.stored("new", 0, 10, true)
				w.stored("old", 0, 20, true)
				w.stored("system", 0, 30, false)
				change(w.Volumes[0])
				v := Decide(w)
				require.Empty(t, append(v.Create, v.Delete...), task)
				now, forGood := IsFinished(w)
				require.True(t, now && forGood, task)
			}
		})
	}
}

func TestWhatARunBeganItEnds(t *testing.T) {
	w := backingUp("a")
	w.done(decide(w))
	w.done(decide(w))
	w.taken()
	w.Volumes[0].Status.State = v1beta2.VolumeStateDetached
	require.Len(t, decide(w).BackUp, 1)
}

// The volume may be detached before the cache shows its Snapshot: the Backup follows all the same.
func TestARunWaitsForASnapshotThatTheCacheDoesNotShowYet(t *testing.T) {
	w := backingUp("a")
	w.done(decide(w))
	v := decide(w)
	require.Len(t, v.Create, 1)
	w.Created = map[string]time.Time{v.Create[0].Name: w.Now}
	w.Volumes[0].Status.State = v1beta2.VolumeStateDetached
	now, _ := IsFinished(w)
	require.False(t, now)
	behind := Decide(w)
	require.Empty(t, behind.Create)
	require.Equal(t, w.Now.Add(patience), behind.Enqueue)
	require.NotEmpty(t, behind.Status.CurrentRun)

	w.Volumes[0].Status.State = v1beta2.VolumeStateAttached
	require.Empty(t, Decide(w).Create, "it is not created again")

	w.Volumes[0].Status.State, w.Now = v1beta2.VolumeStateDetached, w.Now.Add(patience)
	now, forGood := IsFinished(w)
	require.True(t, now && forGood, "it was deleted before the cache showed it")
}

func TestOneThatWaitsForPeopleOrFailedHoldsUpNobody(t *testing.T) {
	for _, reason := range []string{v1beta2.ReasonLimitReached, v1beta2.ReasonFailed} {
		w := world("a")
		w.done(decide(w))
		w.done(decide(w))
		shows(w.Snapshots[0], reason)
		w.done(decide(w))
		require.Equal(t, 1, w.Job.Status.ExecutionCount, reason)
	}
}

// What is kept by age does not go with its job: the newest of a volume stays, however old, whether snapshots, backups or what a job
// removes.
func TestTheNewestIsKeptHoweverOld(t *testing.T) {
	for _, task := range []string{v1beta2.RecurringTaskSnapshot, v1beta2.RecurringTaskBackup} {
		w := world("a")
		w.Job.Spec.Task, w.Job.Spec.Retain = task, 0
		for range 3 {
			w.runs(t)
			w.Now = w.Now.Add(time.Hour)
		}
		w.Job.Spec.RetentionPolicy, w.Job.Spec.RetainAge = policyAge, "72h"
		w.Now = w.Now.AddDate(1, 0, 0)
		snapshots, backups := Surplus(w)
		if task == v1beta2.RecurringTaskBackup {
			require.Len(t, backups, 2)
			require.NotContains(t, backups, w.Backups[2])
			continue
		}
		require.Len(t, snapshots, 2)
		require.NotContains(t, snapshots, w.Snapshots[2])
	}
	w := pruning(v1beta2.RecurringTaskSnapshotDelete, "a")
	w.Job.Spec.RetentionPolicy, w.Job.Spec.RetainAge, w.Job.Spec.Retain = policyAge, "1h", 0
	w.stored("new", 0, 90, true)
	w.stored("old", 0, 100, true)
	require.Equal(t, []string{"old"}, gone(Decide(w)))
}

func TestWhatIsSurplus(t *testing.T) {
	make := func() World {
		w := world("a")
		for range 4 {
			w.Job.Spec.Retain = 0
			w.runs(t)
			w.Now = w.Now.Add(time.Hour)
		}
		w.Now = w.Now.Add(-30 * time.Minute)
		w.Job.Spec.Retain = 2
		return w
	}
	tests := []struct {
		name   string
		change func(*World)
		goes   int
	}{
		{"the oldest beyond the number", func(*World) {}, 2},
		{"those that are too old, where they are kept by age", func(w *World) {
			w.Job.Spec.RetentionPolicy, w.Job.Spec.RetainAge = policyAge, "3h"
		}, 1},
		{"nothing without a number", func(w *World) { w.Job.Spec.Retain = 0 }, 0},
		{"one that is not ready neither counts nor goes", func(w *World) { shows(w.Snapshots[0], v1beta2.ReasonCreating) }, 1},
		{"one that goes already", func(w *World) { w.Snapshots[0].DeletionTimestamp = &metav1.Time{Time: noon} }, 1},
		{"one that failed goes once a newer one did not", func(w *World) { shows(w.Snapshots[0], v1beta2.ReasonFailed) }, 2},
		{"the newest that failed stays while nothing newer did not", func(w *World) { shows(w.Snapshots[3], v1beta2.ReasonFailed) }, 1},
		{"of those that failed the newest stays", func(w *World) {
			shows(w.Snapshots[1], v1beta2.ReasonFailed)
			shows(w.Snapshots[3], v1beta2.ReasonFailed)
		}, 1},
		{"those that only the engine labels, as of an earlier Longhorn", func(w *World) {
			for _, s := range w.Snapshots {
				s.Status.Labels, s.Spec.Labels, s.Spec.CreateSnapshot = s.Spec.Labels, nil, false
			}
		}, 2},
		{"not what linked clones share", func(w *World) { w.Shared = map[string]bool{w.Snapshots[0].Name: true} }, 1},
		{"another job's", func(w *World) { w.Snapshots[0].Spec.Labels = nil }, 1},
		{"those of an earlier volume of the name", func(w *World) { w.Volumes[0].UID = "other" }, 0},
		{"those of a volume that does not name the job any more", func(w *World) { w.Volumes[0].Labels = nil }, 0},
		{"of a task that is not done", func(w *World) { w.Job.Spec.Task = v1beta2.RecurringTaskFilesystemTrim }, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := make()
			test.change(&w)
			v := decide(w)
			require.Len(t, v.Delete, test.goes)
			for _, s := range v.Delete {
				require.NotContains(t, []string{w.Snapshots[2].Name, w.Snapshots[3].Name}, s.Name, "the newest stay")
			}
		})
	}
}
