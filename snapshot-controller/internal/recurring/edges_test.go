package recurring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// A job that is being deleted makes and removes nothing, and its status stays as it is.
func TestAJobThatIsBeingDeletedLeavesWhatItMade(t *testing.T) {
	w := world("a")
	w.Job.DeletionTimestamp = &metav1.Time{Time: w.Now}
	require.Equal(t, Verdict{Reason: "Deleting", Message: "The job is deleted; what it made stays."}, Decide(w))
}

func TestARunIsUnderWayOnlyOfAJobThatCanRun(t *testing.T) {
	job := world("a").Job
	job.Status.CurrentRun = ""
	require.False(t, IsRunning(job))
	job.Status.CurrentRun = "yesterday"
	require.False(t, IsRunning(job), "what is not a time is none")
	job.Status.CurrentRun = "2026-08-01T12:00:00Z"
	require.True(t, IsRunning(job))
	job.Spec.Task = "of-a-newer-version"
	require.False(t, IsRunning(job), "what this version cannot do it does not continue")
}

func TestAZoneWithoutFieldsIsNoTime(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "it is empty",
		"TZ=UTC":               "no fields follow the time zone",
		"CRON_TZ=UTC":          "no fields follow the time zone",
		"TZ=Nowhere * * * * *": "reading the fields: ",
		"* * * *":              "reading the fields: ",
	} {
		_, err := parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

// At a distance from the last run the first time is after it, also where the clock was set back before it.
func TestADistanceCountsFromTheLastRunWhateverTheClock(t *testing.T) {
	every, err := parse("@every 1h")
	require.NoError(t, err)
	base := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]time.Duration{-24 * time.Hour: time.Hour, 0: time.Hour, time.Hour - 1: time.Hour,
		time.Hour: 2 * time.Hour, 90 * time.Minute: 2 * time.Hour} {
		require.Equal(t, base.Add(want), every.after(base, base.Add(ago)), ago)
	}
	require.Zero(t, every.due(base, base.Add(time.Hour-1)))
	require.Equal(t, base.Add(time.Hour), every.due(base, base.Add(time.Hour)))
	require.Zero(t, every.due(base, base.Add(-24*time.Hour)), "a clock that was set back makes nothing due")
	require.Equal(t, 1, AtOnce(&v1beta2.RecurringJob{}), "one at a time where nothing is set")
}
