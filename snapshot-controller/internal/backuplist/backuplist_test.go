package backuplist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(offset time.Duration) string { return now.Add(offset).Format(time.RFC3339) }

func TestABackupVolumeHasTheNameThatLonghornGivesIt(t *testing.T) {
	require.Equal(t, "src-vol-a4f4e7dc", ObjectName("src-vol", "default"))
}

func TestWhenATargetIsRead(t *testing.T) {
	const url = "s3://b@r/"
	for name, c := range map[string]struct {
		url, poll, requested, last string
		tried                      time.Duration
		want                       Turn
	}{
		"never without a URL":          {poll: "5m", want: Turn{}},
		"never without an interval":    {url: url, want: Turn{}},
		"never with the interval 0":    {url: url, poll: "0", last: at(-time.Hour), want: Turn{}},
		"at once if it was never read": {url: url, poll: "5m", want: Turn{Now: true, All: true}},
		"when the interval is over":    {url: url, poll: "5m", last: at(-5 * time.Minute), want: Turn{Now: true}},
		"not before":                   {url: url, poll: "5m", last: at(-time.Minute), want: Turn{At: now.Add(4 * time.Minute)}},
		"wholly by request": {url: url, poll: "5m", last: at(-time.Minute), requested: at(-time.Second),
			want: Turn{Now: true, All: true}},
		"by request without an interval":    {url: url, requested: at(-time.Second), want: Turn{Now: true, All: true}},
		"not for a request that was served": {url: url, last: at(0), requested: at(-time.Second), want: Turn{}},
		"a request of the future waits": {url: url, last: at(-time.Second), requested: at(time.Hour),
			want: Turn{At: now.Add(time.Hour)}},
		"after a failure not at once": {url: url, poll: "5m", tried: 10 * time.Second, want: Turn{At: now.Add(50 * time.Second)}},
		"after a failure within a short interval": {url: url, poll: "20s", tried: 10 * time.Second,
			want: Turn{At: now.Add(10 * time.Second)}},
		"after the pause":                          {url: url, poll: "5m", tried: time.Minute, want: Turn{Now: true, All: true}},
		"an interval that cannot be read is never": {url: url, poll: "often", want: Turn{}},
	} {
		t.Run(name, func(t *testing.T) {
			target := &v1beta2.BackupTarget{
				Spec:   v1beta2.BackupTargetSpec{BackupTargetURL: c.url, PollInterval: c.poll, SyncRequestedAt: c.requested},
				Status: v1beta2.BackupTargetStatus{LastSyncedAt: c.last},
			}
			target.Generation = 1
			var tried Tried
			if c.tried > 0 {
				tried = Tried{Generation: 1, At: now.Add(-c.tried)}
			}
			require.Equal(t, c.want, NextTurn(target, tried, now))
			tried.Generation = 2
			if c.url != "" && c.poll == "5m" && c.last == "" {
				require.True(t, NextTurn(target, tried, now).Now, "another spec is read at once")
			}
		})
	}
}

func stored() *v1beta2.Backup {
	return &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Name: "b-1", UID: "u-1"}, Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted,
		VolumeName: "vol", BackupTargetName: "default", URL: "s3://b@r/?backup=b-1&volume=vol"}}
}

// Only what was whole in this very place can be missing there.
func TestWhatCanBeMissing(t *testing.T) {
	is := func(b *v1beta2.Backup) bool { return IsStored(b, "default", "vol", "s3://b@r/") }
	require.True(t, is(stored()))
	for name, change := range map[string]func(*v1beta2.Backup){
		"being taken":    func(b *v1beta2.Backup) { b.Status.State = v1beta2.BackupInProgress },
		"failed":         func(b *v1beta2.Backup) { b.Status.State = v1beta2.BackupError },
		"being deleted":  func(b *v1beta2.Backup) { b.DeletionTimestamp = &metav1.Time{Time: now} },
		"another URL":    func(b *v1beta2.Backup) { b.Status.URL = "s3://other@r/?backup=b-1&volume=vol" },
		"no URL":         func(b *v1beta2.Backup) { b.Status.URL = "" },
		"another volume": func(b *v1beta2.Backup) { b.Status.VolumeName = "other" },
		"another target": func(b *v1beta2.Backup) { b.Status.BackupTargetName = "other" },
	} {
		b := stored()
		change(b)
		require.False(t, is(b), name)
	}
	require.Empty(t, Missing([]*v1beta2.Backup{stored()}, []string{"a", "b-1", "c"}))
	require.Len(t, Missing([]*v1beta2.Backup{stored()}, []string{"a", "c"}), 1)
}

func TestOnlyTwoReadingsThatAreApartShowThatSomethingIsGone(t *testing.T) {
	var a Absences
	require.False(t, a.Note("u", now))
	require.False(t, a.Note("u", now.Add(Apart-1)), "too soon")
	require.True(t, a.Note("u", now.Add(Apart)))
	a.Forget("u")
	require.False(t, a.Note("u", now.Add(2*Apart)), "it was found meanwhile")
}

func endWorld() EndWorld {
	v := &v1beta2.BackupVolume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1234", DeletionTimestamp: &metav1.Time{Time: now}}}
	v.Spec.VolumeName, v.Status.TargetURL = "vol", "s3://b@r/"
	return EndWorld{Now: now, Volume: v, Backups: []*v1beta2.Backup{stored()},
		Target: &v1beta2.BackupTarget{Spec: v1beta2.BackupTargetSpec{BackupTargetURL: "s3://b@r/"}}}
}

// Data goes only from the place in which the volume was found, and only if somebody asked for that.
func TestADeletedBackupVolumeTakesItsDataAlongOnlyFromItsOwnPlace(t *testing.T) {
	require.Equal(t, EndRemove, DecideEnd(endWorld()).Step)
	for name, change := range map[string]func(*EndWorld){
		"label":          func(w *EndWorld) { w.Volume.Labels = map[string]string{v1beta2.LabelObjectOnly: ""} },
		"uninstalled":    func(w *EndWorld) { w.Uninstalled = "The namespace is being deleted" },
		"no target":      func(w *EndWorld) { w.Target = nil },
		"a target's end": func(w *EndWorld) { w.Target.DeletionTimestamp = &metav1.Time{Time: now} },
		"no URL":         func(w *EndWorld) { w.Target.Spec.BackupTargetURL = "" },
		"another URL":    func(w *EndWorld) { w.Target.Spec.BackupTargetURL = "s3://other@r/" },
		"never found it": func(w *EndWorld) { w.Volume.Status.TargetURL = "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := endWorld()
			change(&w)
			require.Equal(t, EndForget, DecideEnd(w).Step, "its Backups first, without their data")
			w.Backups[0].Labels, w.Backups[0].DeletionTimestamp = map[string]string{v1beta2.LabelObjectOnly: "true"}, &metav1.Time{Time: now}
			end := DecideEnd(w)
			require.Equal(t, EndDropFinalizer, end.Step)
			require.Contains(t, end.Message, "stays there")
		})
	}
}

func TestADeletedBackupVolumeWaitsAndShowsForWhat(t *testing.T) {
	w := endWorld()
	w.Busy = "Backup b-2 is being taken"
	end := DecideEnd(w)
	require.Equal(t, EndSay, end.Step)
	require.Equal(t, now.Add(busyPause), end.Enqueue)
	w.Volume.Status.Messages = map[string]string{MessageError: end.Message}
	require.Equal(t, EndNone, DecideEnd(w).Step, "it is written once")
	w.Busy, w.Problem, w.Again = "", "access denied", now.Add(time.Second)
	end = DecideEnd(w)
	require.Equal(t, EndSay, end.Step)
	require.Contains(t, end.Message, "access denied")
	w.Now = w.Again
	require.Equal(t, EndRemove, DecideEnd(w).Step)
	w.Running = true
	require.Equal(t, EndNone, DecideEnd(w).Step)
	w.Running, w.Gone = false, true
	require.Equal(t, EndForget, DecideEnd(w).Step)
	w.Backups = nil
	require.Equal(t, EndDropFinalizer, DecideEnd(w).Step)
}
