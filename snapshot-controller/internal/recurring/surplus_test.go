package recurring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhichBackupsAreSurplus(t *testing.T) {
	// listed makes them such as longhorn-manager lists in a target: what the job wrote is known from the target alone.
	listed := func(w *World) {
		for _, b := range w.Backups {
			b.Spec, b.Status.Labels = v1beta2.BackupSpec{}, b.Spec.Labels
		}
	}
	for sentence, c := range map[string]struct {
		change func(*World)
		goes   int
	}{
		"the oldest beyond the number":                    {func(*World) {}, 2},
		"those that were listed in the target count, too": {listed, 2},
		"those of another job do not": {func(w *World) {
			listed(w)
			w.Backups[0].Status.Labels = map[string]string{v1beta2.LabelRecurringJob: "other"}
		}, 1},
		"none of a standby volume, which follows those of another cluster": {func(w *World) {
			listed(w)
			w.Volumes[0].Spec.Standby = true
		}, 0},
		"none of a volume that is being restored": {func(w *World) { w.Volumes[0].Status.RestoreRequired = true }, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := backingUp("a")
			w.Job.Spec.Retain = 0
			for range 4 {
				w.runs(t)
				w.Now = w.Now.Add(time.Hour)
			}
			w.Job.Spec.Retain = 2
			c.change(&w)
			_, backups := Surplus(w)
			require.Len(t, backups, c.goes)
		})
	}
}
