package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// copying returns a backup that an engine copies, with the time of its last progress.
func copying(since time.Duration) World {
	w := world(state(v1beta2.BackupInProgress))
	w.Backup.Status.RequestedTime = noon.Add(-24 * time.Hour).Format(time.RFC3339Nano)
	w.Backup.Status.ProgressedAt = noon.Add(-since).Format(time.RFC3339)
	w.Backup.Status.ReplicaAddress = "tcp://10.0.0.1:10000"
	return w
}

func TestABackupWithoutProgressSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		world   World
		stalled bool
		wakes   time.Time
	}{
		"it made progress a moment ago":               {copying(time.Minute), false, noon.Add(2*time.Hour - time.Minute)},
		"it made none for hours":                      {copying(2 * time.Hour), true, time.Time{}},
		"it never made any":                           {with(copying(0), progressed("")), true, time.Time{}},
		"a version without that time saw steps of it": {with(requested(3*time.Hour), percent(50)), false, noon.Add(9 * time.Hour)},
		"and none since":                              {with(requested(12*time.Hour), percent(50)), true, time.Time{}},
		"a large one takes longer": {with(copying(2*time.Hour), ofBytes("10000000000000")), false,
			noon.Add(100000*time.Second - 2*time.Hour)},
		"it waits to be requested":          {with(copying(24*time.Hour), state(v1beta2.BackupPending)), false, time.Time{}},
		"times that cannot be read":         {with(copying(0), progressed("yesterday")), false, time.Time{}},
		"a size that cannot be read counts": {with(copying(2*time.Hour), ofBytes("large")), true, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.stalled, v.Stall != nil)
			require.Equal(t, c.wakes, v.Enqueue)
			require.Equal(t, v1beta2.ReasonReady, v.Condition.Reason, "it stays approved: the engine goes on with it")
		})
	}
	v := Decide(copying(3 * time.Hour))
	require.Equal(t, v1beta2.ReasonNoProgress, v.Stall.Reason)
	require.Contains(t, v.Stall.Message, "0 per cent since 2026-08-01T09:00:00Z")
	require.Contains(t, v.Stall.Message, "tcp://10.0.0.1:10000")
}

func ofBytes(size string) func(*World) { return func(w *World) { w.Backup.Status.VolumeSize = size } }

func progressed(at string) func(*World) { return func(w *World) { w.Backup.Status.ProgressedAt = at } }

func percent(n int) func(*World) { return func(w *World) { w.Backup.Status.Progress = n } }

// requested returns a backup that an engine copies, without the time of its last progress.
func requested(since time.Duration) World {
	w := with(copying(0), progressed(""))
	w.Backup.Status.RequestedTime = noon.Add(-since).Format(time.RFC3339Nano)
	return w
}

func with(w World, change func(*World)) World {
	change(&w)
	return w
}

// The condition goes with the next progress, and with the end.
func TestABackupThatMakesProgressAgainSaysNothing(t *testing.T) {
	stalled := func(w *World) {
		w.Backup.Status.Conditions = conditions.Set(w.Backup.Status.Conditions, v1beta2.Condition{Type: v1beta2.BackupApproved,
			Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady}, noon)
		w.Backup.Status.Conditions = conditions.Set(w.Backup.Status.Conditions, v1beta2.Condition{Type: v1beta2.BackupProgressing,
			Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonNoProgress}, noon)
	}
	for name, w := range map[string]World{
		"it goes on":      with(copying(time.Minute), stalled),
		"it is completed": with(with(copying(3*time.Hour), stalled), state(v1beta2.BackupCompleted)),
		"it failed":       with(with(copying(3*time.Hour), stalled), state(v1beta2.BackupError)),
	} {
		t.Run(name, func(t *testing.T) {
			holdsTicket(&w)
			v := Decide(w)
			require.Equal(t, StepSay, v.Step)
			require.Nil(t, v.Stall)
			require.Equal(t, v1beta2.BackupApproved, v.Condition.Type)
		})
	}
}
