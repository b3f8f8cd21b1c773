package recurring

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

func anyWorld(t *rapid.T) World {
	w := world(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 5, rapid.ID).Draw(t, "volumes")...)
	w.Job.Spec.Cron = rapid.SampledFrom([]string{"* * * * *", "*/5 * * * *", "0 * * * *", "CRON_TZ=Asia/Tokyo 0 3 * * *", "@every 3h",
		"0 0 30 2 *", "x", ""}).Draw(t, "cron")
	w.Job.Spec.Task = rapid.SampledFrom([]string{v1beta2.RecurringTaskSnapshot, v1beta2.RecurringTaskBackup,
		v1beta2.RecurringTaskSnapshotDelete, v1beta2.RecurringTaskSnapshotCleanup}).Draw(t, "task")
	w.Job.Spec.Retain = rapid.IntRange(0, 3).Draw(t, "retain")
	w.Job.Spec.Concurrency = rapid.IntRange(-1, 3).Draw(t, "concurrency")
	w.Job.Status.CurrentRun = rapid.SampledFrom([]string{"", "", "2026-08-01T11:00:00Z", "rubbish"}).Draw(t, "currentRun")
	w.Job.Status.ScheduledSince = rapid.SampledFrom([]string{"", "rubbish",
		format(noon.Add(-time.Duration(rapid.IntRange(0, 100000).Draw(t, "age")) * time.Minute))}).Draw(t, "since")
	return w
}

func TestDecideIsTotalAndDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		first := decide(w)
		slices.Reverse(w.Volumes)
		slices.Reverse(w.Snapshots)
		require.Equal(t, first, decide(w), "the order in which things are listed does not matter")
	})
}

func TestWhatIsDoneIsNotDecidedAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		w.runs(t)
		v := decide(w)
		require.False(t, v.Write)
		require.Empty(t, v.Create)
		require.Empty(t, v.BackUp)
		require.Empty(t, v.Delete)
		require.Empty(t, v.DeleteBackups)
		require.True(t, v.Reason != v1beta2.ReasonScheduled || v.Enqueue.After(w.Now))
	})
}

// Whatever of a verdict was done when the process died, and however often: no run makes two Snapshots of a volume, no more
// are taken at once than may be, and each volume keeps as many as it must.
func TestRunsThatAreCutOffAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world("a", "b", "c")
		w.Job.Spec.Retain = rapid.IntRange(1, 3).Draw(t, "retain")
		w.Job.Spec.Concurrency = rapid.IntRange(1, 3).Draw(t, "concurrency")
		made := map[string]int{}
		hours := rapid.IntRange(1, 6).Draw(t, "hours")
		for range hours {
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				v := decide(w)
				if rapid.Bool().Draw(t, "cut") {
					v.Create = v.Create[:rapid.IntRange(0, len(v.Create)).Draw(t, "created")]
					v.Delete = v.Delete[:rapid.IntRange(0, len(v.Delete)).Draw(t, "deleted")]
				}
				for _, s := range v.Create {
					made[s.Name]++
					require.Equal(t, 1, made[s.Name], "a second Snapshot of one run and volume")
				}
				w.done(v)
				require.LessOrEqual(t, untakenOf(w), w.Job.Spec.Concurrency)
				if rapid.Bool().Draw(t, "taken") {
					w.taken()
				}
			}
			w.Now = w.Now.Add(time.Hour)
		}
		w.Job.Spec.Concurrency = 3
		w.taken()
		for range w.Job.Spec.Retain + 1 {
			w.runs(t)
			w.Now = w.Now.Add(time.Hour)
		}
		for _, v := range w.Volumes {
			count := 0
			for _, s := range w.Snapshots {
				if s.Spec.Volume == v.Name {
					count++
				}
			}
			require.Equal(t, w.Job.Spec.Retain, count)
		}
	})
}

// untakenOf counts those that hold a place: none is beyond its patience yet.
func untakenOf(w World) int {
	count := 0
	for _, s := range w.Snapshots {
		if untaken(s) && w.Now.Before(s.CreationTimestamp.Add(patience)) {
			count++
		}
	}
	return count
}
