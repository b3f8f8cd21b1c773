package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestOnlyTheVersionThatWasEvaluatedIsRequested(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*CallWorld)
		want   string
	}{
		{"as evaluated", func(*CallWorld) {}, ""},
		{"requested meanwhile", func(w *CallWorld) { w.Now.Version = "2" }, "the Backup changed since the evaluation"},
		{"gone", func(w *CallWorld) { w.Now = nil }, "the Backup changed since the evaluation"},
		{"without a target", func(w *CallWorld) { w.Target = nil }, "backup target s3 is gone, being deleted, or has no URL"},
		{"with a target without URL", func(w *CallWorld) { w.Target.URL = "" }, "backup target s3 is gone, being deleted, or has no URL"},
		{"with a target that goes", func(w *CallWorld) { w.Target.Deleting = true }, "backup target s3 is gone, being deleted, or has no URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := CallWorld{Evaluated: Backup{Version: "1"}, Now: &Backup{Version: "1"}, TargetName: "s3", Target: &Target{URL: "s3://b@r/"}}
			c.change(&w)
			if c.want == "" {
				require.NoError(t, Allowed(w))
			} else {
				require.EqualError(t, Allowed(w), c.want)
			}
		})
	}
}

// A check that is repeated after the write ahead finds another version, which that write made.
func TestWhatThisTryWroteAheadIsRequested(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 5, time.UTC)
	for _, c := range []struct {
		name   string
		change func(*Backup)
		stops  bool
	}{
		{"as written ahead", func(*Backup) {}, false},
		{"another write to it", func(b *Backup) { b.Version = "3" }, false},
		{"another Backup of the name", func(b *Backup) { b.UID = "other" }, true},
		{"requested of another run", func(b *Backup) { b.Run = "run-2" }, true},
		{"requested by another leader", func(b *Backup) { b.Requested = at.Add(time.Nanosecond) }, true},
		{"begun", func(b *Backup) { b.State = v1beta2.BackupInProgress }, true},
		{"being deleted", func(b *Backup) { b.Deleting = true }, true},
		{"not approved any more", func(b *Backup) { b.Approved = false }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := Backup{UID: "b", Version: "2", State: v1beta2.BackupPending, Run: "run-1", Requested: at, Approved: true}
			c.change(&now)
			w := CallWorld{Evaluated: Backup{Version: "1"}, Noted: &Note{"b", "run-1", at}, Now: &now, Target: &Target{URL: "s3://b@r/"}}
			require.Equal(t, c.stops, Allowed(w) != nil)
		})
	}
}
