package recurring

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// pruning is a world whose run of noon is under way with the task.
func pruning(task string, volumes ...string) World {
	w := world(volumes...)
	w.Job.Spec.Task, w.Job.Status.CurrentRun = task, format(noon)
	return w
}

// stored is a snapshot that was taken so many minutes before noon, of the n-th volume, for a person or by the system.
func (w *World) stored(name string, volume, minutes int, user bool, changes ...func(*v1beta2.Snapshot)) {
	v, at := w.Volumes[volume], noon.Add(-time.Duration(minutes)*time.Minute)
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.NewTime(at),
		OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)}}}
	s.Spec.Volume, s.Spec.CreateSnapshot = v.Name, user
	s.Status.CreationTime, s.Status.UserCreated, s.Status.Children = format(at), user, map[string]bool{"other": true}
	shows(s, v1beta2.ReasonReady)
	for _, change := range changes {
		change(s)
	}
	w.Snapshots = append(w.Snapshots, s)
}

func goingSince(minutes int, reason string) func(*v1beta2.Snapshot) {
	return func(s *v1beta2.Snapshot) {
		at := metav1.NewTime(noon.Add(-time.Duration(minutes) * time.Minute))
		s.DeletionTimestamp = &at
		s.Status.Conditions = append(s.Status.Conditions,
			v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionFalse, Reason: reason})
	}
}

func children(names ...string) func(*v1beta2.Snapshot) {
	return func(s *v1beta2.Snapshot) {
		s.Status.Children = map[string]bool{}
		for _, name := range names {
			s.Status.Children[name] = true
		}
	}
}

func parent(name string) func(*v1beta2.Snapshot) {
	return func(s *v1beta2.Snapshot) { s.Status.Parent = name }
}

func reason(is string) func(*v1beta2.Snapshot) {
	return func(s *v1beta2.Snapshot) { shows(s, is) }
}

func takenBy(controller string) func(*v1beta2.Snapshot) {
	return func(s *v1beta2.Snapshot) { metav1.SetMetaDataLabel(&s.ObjectMeta, v1beta2.LabelManagedBy, controller) }
}

func gone(v Verdict) (names []string) {
	for _, s := range v.Delete {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// Of each volume the newest that somebody asked for are kept, whoever that was; what the system made is not counted.
func TestSnapshotDeleteKeepsTheNewest(t *testing.T) {
	w := pruning(v1beta2.RecurringTaskSnapshotDelete, "v", "w")
	for n := range 4 {
		w.stored(fmt.Sprintf("v-%d", n), 0, n+1, true)
	}
	w.stored("v-system", 0, 0, false)
	w.stored("v-adopted", 0, 9, false, func(s *v1beta2.Snapshot) { s.Status.UserCreated = true })
	w.stored("v-untaken", 0, 8, true, reason(v1beta2.ReasonWaitingForAttach))
	w.stored("v-shared", 0, 8, true)
	w.stored("v-upgrade", 0, 0, true, takenBy(v1beta2.ManagedByUpgradeController))
	w.stored("v-copy", 0, 8, true, takenBy(v1beta2.ManagedByAttachController))
	w.stored("v-labelled", 0, 8, true, takenBy("somebody"))
	w.stored("w-0", 1, 1, true)
	w.stored("w-1", 1, 2, true)
	w.stored("w-other", 1, 3, true, func(s *v1beta2.Snapshot) { s.OwnerReferences[0].UID = "other" })
	w.Shared = map[string]bool{"v-shared": true}
	require.Equal(t, []string{"v-2", "v-3", "v-adopted", "v-labelled"}, gone(Decide(w)),
		"those of controllers neither count nor go")
	w.stored("v-late", 0, -30, true)
	require.Equal(t, []string{"v-1", "v-2", "v-3", "v-adopted", "v-labelled"}, gone(Decide(w)),
		"one that is taken while the run lasts counts among the newest")
}

// Times are reported in seconds: of those of one second the chain states which is newer; what the head builds on never goes.
func TestSnapshotDeleteFollowsTheChain(t *testing.T) {
	w := pruning(v1beta2.RecurringTaskSnapshotDelete, "v")
	w.Job.Spec.Retain = 1
	w.stored("s-9", 0, 1, true)
	w.stored("s-10", 0, 1, true, parent("s-9"))
	w.stored("s-11", 0, 1, true, parent("s-10"), children(v1beta2.VolumeHead))
	require.Equal(t, []string{"s-10", "s-9"}, gone(Decide(w)))
	w.Snapshots[2].Spec.CreateSnapshot, w.Snapshots[2].Status.UserCreated = false, false
	require.Equal(t, []string{"s-9"}, gone(Decide(w)))
	w.stored("round", 0, 1, true, parent("s-11"), children("s-9", v1beta2.VolumeHead))
	w.Snapshots[0].Status.Parent = "round"
	require.NotContains(t, gone(Decide(w)), "round")
}

// What the system made goes, and what the engine marked removed, where it can be merged.
func TestSnapshotCleanup(t *testing.T) {
	w := pruning(v1beta2.RecurringTaskSnapshotCleanup, "v")
	w.Job.Spec.Retain = 0
	w.stored("user", 0, 5, true)
	w.stored("system", 0, 4, false)
	w.stored("of an upgrade", 0, 4, false, takenBy(v1beta2.ManagedByUpgradeController))
	w.stored("marked", 0, 3, true, reason(v1beta2.ReasonMarkedRemoved), func(s *v1beta2.Snapshot) { s.Status.MarkRemoved = true })
	w.stored("under the head", 0, 2, false, children(v1beta2.VolumeHead))
	w.stored("forked", 0, 1, false, children("user"))
	w.Snapshots[0].Status.Parent = "forked"
	w.stored("branch", 0, 1, true, parent("forked"), children(v1beta2.VolumeHead))
	w.stored("once under the head", 0, 1, false, children(v1beta2.VolumeHead))
	w.stored("above", 0, 1, true, parent("once under the head"))
	w.stored("lost", 0, 1, false, reason(v1beta2.ReasonLost))
	require.Equal(t, []string{"marked", "once under the head", "system"}, gone(Decide(w)))
}

// The run ends when what went is gone, or waits for people, or was waited for long enough.
func TestARunThatRemovesWaitsForTheRemoval(t *testing.T) {
	for name, test := range map[string]struct {
		going func(*v1beta2.Snapshot)
		ended bool
	}{
		"it is queued":                  {goingSince(1, v1beta2.ReasonPurgeLimited), false},
		"it is being removed":           {goingSince(1, v1beta2.ReasonRequested), false},
		"nothing is reported of it yet": {goingSince(1, ""), false},
		"it goes for too long":          {goingSince(15, v1beta2.ReasonRequested), true},
		"no purge is allowed":           {goingSince(1, v1beta2.ReasonPurgeDisabled), true},
		"the volume's head needs it":    {goingSince(1, v1beta2.ReasonParentOfVolumeHead), true},
		"a backup may take for ever":    {goingSince(1, v1beta2.ReasonBackingUp), true},
		"linked clones live on from it": {goingSince(1, v1beta2.ReasonLinkedClone), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := pruning(v1beta2.RecurringTaskSnapshotDelete, "v")
			w.stored("going", 0, 9, true, test.going)
			v := Decide(w)
			require.Equal(t, test.ended, v.Status.LastRun != "")
			if !test.ended {
				require.Equal(t, noon.Add(patience-time.Minute), v.Enqueue)
			}
		})
	}
}

func TestNoMoreVolumesArePrunedAtOnceThanMayBe(t *testing.T) {
	w := pruning(v1beta2.RecurringTaskSnapshotDelete, "a", "b", "c", "d")
	w.Job.Spec.Retain = 1
	for n := range 4 {
		w.stored(fmt.Sprintf("old-%d", n), n, 20, true)
		w.stored(fmt.Sprintf("new-%d", n), n, 10, true)
	}
	require.Equal(t, []string{"old-0", "old-1"}, gone(Decide(w)))
	goingSince(1, "")(w.Snapshots[0])
	require.Equal(t, []string{"old-1"}, gone(Decide(w)))
	w.Snapshots = w.Snapshots[2:]
	require.Equal(t, []string{"old-1", "old-2"}, gone(Decide(w)))
}

// Whoever reads only as many volumes as are worked on at once, and leaves out those that are finished, does the same.
func TestAsManyVolumesAsAreWorkedOnAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		w.Job.Spec.Cron, w.Job.Spec.Retain, w.Job.Status.CurrentRun = "0 * * * *", 1, format(noon)
		for i := range w.Volumes {
			for n := range rapid.IntRange(0, 3).Draw(t, "snapshots") {
				change := rapid.SampledFrom([]func(*v1beta2.Snapshot){func(*v1beta2.Snapshot) {}, goingSince(1, ""),
					goingSince(1, v1beta2.ReasonPurgeDisabled),
					reason(v1beta2.ReasonLost)}).Draw(t, "change")
				w.stored(fmt.Sprintf("%d-%d", i, n), i, n+1, rapid.Bool().Draw(t, "user"), change)
			}
			if rapid.Bool().Draw(t, "made") {
				s := w.newSnapshot(Name(w.Job, noon, w.Volumes[i]), w.Volumes[i])
				s.CreationTimestamp = metav1.NewTime(noon)
				shows(s, rapid.SampledFrom([]string{v1beta2.ReasonReady, v1beta2.ReasonFailed, v1beta2.ReasonLimitReached,
					v1beta2.ReasonCreating}).Draw(t, "made reason"))
				if conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotReady) {
					s.Status.CreationTime = format(noon)
				} else if rapid.Bool().Draw(t, "refused") {
					refuses(s)
				}
				w.Snapshots = append(w.Snapshots, s)
			}
		}
		part := w
		part.Volumes = nil
		for _, v := range Served(w.Job, w.Volumes, w.Sources) {
			one := w
			one.Volumes = []*v1beta2.Volume{v}
			one.Snapshots = slices.DeleteFunc(slices.Clone(w.Snapshots), func(s *v1beta2.Snapshot) bool { return s.Spec.Volume != v.Name })
			if now, _ := IsFinished(one); !now && len(part.Volumes) < AtOnce(w.Job) {
				part.Volumes = append(part.Volumes, v)
			}
		}
		whole, some := Decide(w), Decide(part)
		require.Equal(t, whole, some)
	})
}

// A run remembers of a volume only what does not change any more.
func TestWhatIsFinishedForGood(t *testing.T) {
	at := func(changes ...func(*World, *v1beta2.Snapshot)) World {
		w := pruning(v1beta2.RecurringTaskBackup, "v")
		s := w.newSnapshot(Name(w.Job, noon, w.Volumes[0]), w.Volumes[0])
		s.CreationTimestamp = metav1.NewTime(noon)
		w.Snapshots = []*v1beta2.Snapshot{s}
		for _, change := range changes {
			change(&w, s)
		}
		return w
	}
	is := func(reason string) func(*World, *v1beta2.Snapshot) {
		return func(_ *World, s *v1beta2.Snapshot) { shows(s, reason) }
	}
	taken := func(_ *World, s *v1beta2.Snapshot) { s.Status.CreationTime = format(noon) }
	refused := func(_ *World, s *v1beta2.Snapshot) { refuses(s) }
	task := func(w *World, _ *v1beta2.Snapshot) { w.Job.Spec.Task = v1beta2.RecurringTaskSnapshot }
	backup := func(state string) func(*World, *v1beta2.Snapshot) {
		return func(w *World, s *v1beta2.Snapshot) {
			b := w.newBackup(s.Name, w.Volumes[0])
			b.CreationTimestamp, b.Status.State = metav1.NewTime(noon), state
			w.Backups = []*v1beta2.Backup{b}
		}
	}
	for name, test := range map[string]struct {
		world        World
		now, forGood bool
	}{
		"it is being taken":             {at(is(v1beta2.ReasonCreating)), false, false},
		"it is over a limit":            {at(is(v1beta2.ReasonLimitReached)), true, false},
		"the engine refused for good":   {at(is(v1beta2.ReasonFailed)), true, true},
		"the engine refused for now":    {at(is(v1beta2.ReasonFailed), refused), false, false},
		"and nothing is to be copied":   {at(is(v1beta2.ReasonFailed), refused, task), true, true},
		"it is ready, and all":          {at(task, taken, is(v1beta2.ReasonReady)), true, true},
		"it is ready, to be backed up":  {at(taken, is(v1beta2.ReasonReady)), false, false},
		"it was lost from sight":        {at(taken, is(v1beta2.ReasonLost)), true, false},
		"it is being backed up":         {at(taken, is(v1beta2.ReasonReady), backup("")), false, false},
		"it is backed up":               {at(taken, is(v1beta2.ReasonReady), backup(v1beta2.BackupCompleted)), true, true},
		"it could not be backed up":     {at(taken, is(v1beta2.ReasonReady), backup(v1beta2.BackupError)), true, true},
		"nothing was asked for, or yet": {pruning(v1beta2.RecurringTaskBackup, "v"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			now, forGood := IsFinished(test.world)
			require.Equal(t, test.now, now)
			require.Equal(t, test.forGood, forGood)
		})
	}
}
