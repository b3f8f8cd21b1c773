package snapshots

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

// one is a world with snapshot snap of vol-1, which was taken two days ago.
func one(change func(*v1beta2.Snapshot)) *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: noon}
	w.Snapshots.Items = []v1beta2.Snapshot{changed(usable("snap", 2), change)}
	return w
}

func asItIs(*v1beta2.Snapshot) {}

func text(r interface{ Text(*terminal.Printer) }) string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	return out.String()
}

// Who deletes a snapshot that another one needs loses data, or a backup.
func TestWhatNeedsASnapshotIsNamedWithWhenThatEnds(t *testing.T) {
	cloneOf := func(change func(*v1beta2.Volume)) func(*world.World) {
		return func(w *world.World) {
			v := v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-2"}}
			change(&v)
			w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}}, v}
		}
	}
	initiated := func(v *v1beta2.Volume) {
		v.Status.CloneStatus = v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated, SourceVolume: "vol-1", Snapshot: "snap"}
	}
	reverted := func(change func(*v1beta2.Volume)) func(*world.World) {
		return func(w *world.World) {
			w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}, Spec: v1beta2.VolumeSpec{RevertToSnapshot: "snap",
				RevertRequestedAt: "2026-08-01T11:00:00Z"}}}
			change(&w.Volumes.Items[0])
		}
	}
	taken := func(state, snapshot string) func(*world.World) {
		return func(w *world.World) {
			w.NodeUpgrades.Items = []v1beta2.NodeDataEngineUpgrade{{ObjectMeta: metav1.ObjectMeta{Name: "upgrade-1-node-1"},
				Status: v1beta2.NodeDataEngineUpgradeStatus{State: state, Volumes: map[string]v1beta2.VolumeUpgradeStatus{
					"vol-1": {Snapshot: snapshot}}}}}
		}
	}
	backup := func(state string) func(*world.World) {
		return func(w *world.World) {
			w.Backups.Items = []v1beta2.Backup{{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: v1beta2.BackupSpec{SnapshotName: "other"}},
				{ObjectMeta: metav1.ObjectMeta{Name: "b-1"}, Spec: v1beta2.BackupSpec{SnapshotName: "snap"},
					Status: v1beta2.BackupStatus{State: state}}}
		}
	}
	const linked = "Volume vol-2 is a linked clone and shares its data, for as long as that volume lives."
	const cloned = "Volume vol-2 is being cloned from it: wait until that has ended."
	const reverting = "The volume is being reverted to it: wait until that has ended."
	const head = "The volume's head builds on it: it can go once there is a newer one."
	for name, test := range map[string]struct {
		snapshot func(*v1beta2.Snapshot)
		change   func(*world.World)
		want     string
	}{
		"nothing":                     {want: ""},
		"a backup that has not begun": {change: backup(""), want: "Backup b-1 copies it: wait until that has ended."},
		"a backup that goes on": {change: backup(v1beta2.BackupInProgress),
			want: "Backup b-1 copies it: wait until that has ended."},
		"a backup that failed": {change: backup(v1beta2.BackupError)},
		"the next backup": {change: backup(v1beta2.BackupCompleted),
			want: "It is the newest that was backed up, from which the next backup is computed."},
		"a linked clone": {change: cloneOf(func(v *v1beta2.Volume) {
			v.Spec.DataSource, v.Spec.CloneMode, v.Status.CloneStatus.State = "snap://vol-1/snap", v1beta2.CloneModeLinked, v1beta2.CloneCompleted
		}), want: linked},
		"a clone that is to begin": {change: cloneOf(func(v *v1beta2.Volume) { v.Spec.DataSource = "snap://vol-1/snap" }), want: cloned},
		"a clone that ended": {change: cloneOf(func(v *v1beta2.Volume) {
			v.Spec.DataSource, v.Status.CloneStatus.State = "snap://vol-1/snap", v1beta2.CloneCompleted
		})},
		"a clone of another snapshot":                  {change: cloneOf(func(v *v1beta2.Volume) { v.Spec.DataSource = "snap://vol-1/other" })},
		"a clone of the whole volume by this snapshot": {change: cloneOf(initiated), want: cloned},
		"a clone of the same name of another volume": {change: cloneOf(func(v *v1beta2.Volume) {
			initiated(v)
			v.Status.CloneStatus.SourceVolume = "vol-3"
		})},
		"a clone that is being deleted": {change: cloneOf(func(v *v1beta2.Volume) {
			initiated(v)
			v.DeletionTimestamp = &metav1.Time{Time: noon}
		})},
		"a revert":            {change: reverted(func(*v1beta2.Volume) {}), want: reverting},
		"a revert that ended": {change: reverted(func(v *v1beta2.Volume) { v.Status.LastRevert = v.Spec.RevertRequestedAt })},
		"a revert that no one requested yet": {change: reverted(func(v *v1beta2.Volume) {
			v.Spec.RevertRequestedAt, v.Status.LastRevert = "", "2026-08-01T10:00:00Z"
		})},
		"an upgrade that goes on": {change: taken(v1beta2.UpgradeStateUpgrading, "snap"),
			want: "NodeDataEngineUpgrade upgrade-1-node-1 took it and is not over: wait until that has ended."},
		"an upgrade that took another one": {change: taken(v1beta2.UpgradeStateUpgrading, "other")},
		"an upgrade that is completed":     {change: taken(v1beta2.UpgradeStateCompleted, "snap")},
		"an upgrade that failed":           {change: taken(v1beta2.UpgradeStateError, "snap")},
		"it was not taken":                 {snapshot: func(s *v1beta2.Snapshot) { s.Status.CreationTime = "" }, want: "It was not taken yet."},
		"the volume's head": {snapshot: func(s *v1beta2.Snapshot) { s.Status.Children = map[string]bool{v1beta2.VolumeHead: true} },
			want: head},
		"a head that builds on a newer one since": {snapshot: func(s *v1beta2.Snapshot) {
			s.Status.Children = map[string]bool{v1beta2.VolumeHead: true}
		}, change: func(w *world.World) {
			w.Snapshots.Items = append(w.Snapshots.Items, changed(usable("newer", 1), func(s *v1beta2.Snapshot) { s.Status.Parent = "snap" }))
		}},
		"a content of Kubernetes without a VolumeSnapshot": {change: func(w *world.World) {
			w.Contents.Items = []volumesnapshot.Content{{ObjectMeta: metav1.ObjectMeta{Name: "content-1"}, Spec: volumesnapshot.ContentSpec{
				Driver: volumesnapshot.Driver, Source: volumesnapshot.ContentSource{SnapshotHandle: "snap://vol-1/snap"}}}}
		}, want: "It is behind VolumeSnapshotContent content-1 of Kubernetes: delete that."},
	} {
		t.Run(name, func(t *testing.T) {
			change := test.snapshot
			if change == nil {
				change = asItIs
			}
			w := one(change)
			if test.change != nil {
				test.change(w)
			}
			require.Equal(t, test.want, Of(w, "vol-1").Snapshots[0].Needed)
		})
	}
}

func TestWhyASnapshotIsNoRestorePoint(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1beta2.Snapshot)
		want   string
	}{
		"it is one":                           {asItIs, ""},
		"of a person by Longhorn's interface": {func(s *v1beta2.Snapshot) { s.Spec.CreateSnapshot = false }, ""},
		"being deleted": {func(s *v1beta2.Snapshot) { s.DeletionTimestamp, s.Status.MarkRemoved = &metav1.Time{Time: noon}, true },
			"It is being deleted."},
		"marked": {func(s *v1beta2.Snapshot) { s.Status.MarkRemoved, s.Status.ReadyToUse = true, false },
			"The engine marked it removed: it waits for a purge."},
		"a condition with a message": {func(s *v1beta2.Snapshot) {
			s.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: "Lost",
				Message: "Its data is lost."}}
		}, "Its data is lost."},
		"a condition without one": {func(s *v1beta2.Snapshot) {
			s.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: "Lost"}}
		}, "It is not ready: Lost."},
		"an error of Longhorn's": {func(s *v1beta2.Snapshot) { s.Status.ReadyToUse, s.Status.Error = false, "no space" }, "no space"},
		"not ready":              {func(s *v1beta2.Snapshot) { s.Status.ReadyToUse = false }, "It is not ready."},
		"without a time":         {func(s *v1beta2.Snapshot) { s.Status.CreationTime = "" }, "It has no creation time."},
		"of the system": {func(s *v1beta2.Snapshot) { s.Spec.CreateSnapshot, s.Status.UserCreated = false, false },
			"The system took it."},
		"of a controller": {func(s *v1beta2.Snapshot) {
			s.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByUpgradeController}
		}, "upgrade-controller took it for itself, and deletes it."},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Of(one(test.change), "vol-1").Snapshots[0].NotCounted)
		})
	}
}

func TestThePurposeIsWhoAskedForItAndWhatCopiesIt(t *testing.T) {
	w := one(asItIs)
	purpose := func() string { return Of(w, "vol-1").Snapshots[0].Purpose }
	require.Equal(t, "person", purpose())
	w.Backups.Items = []v1beta2.Backup{
		{ObjectMeta: metav1.ObjectMeta{Name: "b-1"}, Spec: v1beta2.BackupSpec{SnapshotName: "snap"},
			Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b-2"}, Spec: v1beta2.BackupSpec{SnapshotName: "snap"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b-3"}, Spec: v1beta2.BackupSpec{SnapshotName: "other"}}}
	require.Equal(t, "person, Backup b-1 (Completed), Backup b-2 (not begun)", purpose())
	w.Backups.Items = nil

	s := &w.Snapshots.Items[0]
	s.Status.Labels = map[string]string{v1beta2.LabelRecurringJob: "daily"}
	require.Equal(t, "recurring job daily", purpose(), "the engine has the label")
	s.Spec.Labels = map[string]string{v1beta2.LabelRecurringJob: "hourly"}
	require.Equal(t, "recurring job hourly", purpose())
	s.Spec.Labels, s.Status.Labels = nil, nil

	w.Contents.Items = []volumesnapshot.Content{{ObjectMeta: metav1.ObjectMeta{Name: "content-1"}, Spec: volumesnapshot.ContentSpec{
		Driver: volumesnapshot.Driver, VolumeSnapshotRef: volumesnapshot.Reference{Namespace: "shop", Name: "daily"},
		Source: volumesnapshot.ContentSource{SnapshotHandle: "snap://vol-1/snap"}}}}
	require.Equal(t, "VolumeSnapshot shop/daily", purpose())
	w.Contents.Items = nil

	s.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByAttachController}
	require.Equal(t, "attach-controller", purpose())
	s.Labels, s.Spec.CreateSnapshot, s.Status.UserCreated = nil, false, false
	require.Equal(t, "system", purpose())
}

func TestTheTreeShowsWhatBuildsOnWhat(t *testing.T) {
	on := func(parent string, size int64) func(*v1beta2.Snapshot) {
		return func(s *v1beta2.Snapshot) { s.Status.Parent, s.Status.Size = parent, size }
	}
	w := &world.World{Namespace: "longhorn-system", Now: noon, Unread: []world.Unread{{Reason: "Backups are not allowed."}}}
	w.Snapshots.Items = []v1beta2.Snapshot{
		changed(usable("new", 1), func(s *v1beta2.Snapshot) {
			on("left", 1<<20)(s)
			s.DeletionTimestamp = &metav1.Time{Time: noon}
			s.Status.Children = map[string]bool{v1beta2.VolumeHead: true}
		}),
		changed(usable("right", 2), on("root", 1<<20)), changed(usable("left", 3), on("root", 1<<20)),
		changed(usable("root", 4), on("gone", 2<<20)), changed(usable("b", 5), on("", 0)), changed(usable("a", 5), on("", 0)),
		changed(usable("elsewhere", 9), func(s *v1beta2.Snapshot) { s.Spec.Volume, s.Status.Size = "vol-2", 1<<30 })}
	tree := Of(w, "vol-1")
	require.Equal(t, `SNAPSHOT   SIZE    TAKEN     PURPOSE                 NEEDED
a          0 GiB   5d ago    person
b          0 GiB   5d ago    person
root       2 MiB   4d ago    person
  left     1 MiB   3d ago    person
  new      1 MiB   24h ago   person, being deleted   The volume's head builds on it: it can go once there is a newer one.
  right    1 MiB   2d ago    person

6 snapshots of volume vol-1, 5 MiB

Not shown: Backups are not allowed.
`, text(tree))
	require.Equal(t, "snapshot.longhorn.io/a", tree.Names()[0])
	require.Len(t, tree.Names(), 6)
	require.Contains(t, text(Of(w, "vol-2")), "\n1 snapshot of volume vol-2, 1 GiB\n")
	w.Unread = nil
	require.Equal(t, "volume vol-3 has no snapshots\n", text(Of(w, "vol-3")))
}

// One that is not taken yet is no old one: it comes last, and a rule by age leaves it.
func TestWhatIsNotTakenYetIsTheNewest(t *testing.T) {
	w := one(asItIs)
	w.Snapshots.Items = append([]v1beta2.Snapshot{changed(usable("coming", 0), func(s *v1beta2.Snapshot) { s.Status.CreationTime = "" })},
		w.Snapshots.Items...)
	require.Equal(t, []string{"snapshot.longhorn.io/snap", "snapshot.longhorn.io/coming"}, Of(w, "vol-1").Names())
}

func TestPruningKeepsWhatIsNewEnoughByNumberAndByAge(t *testing.T) {
	w := &world.World{Now: noon}
	w.Snapshots.Items = []v1beta2.Snapshot{usable("d", 1), usable("c", 2), usable("b", 3), usable("a", 4)}
	for name, test := range map[string]struct {
		rule Rule
		want []string
	}{
		"by number":           {Rule{Keep: 3}, []string{"snapshot.longhorn.io/a"}},
		"more than there are": {Rule{Keep: 9}, []string{}},
		"by age": {Rule{OlderThan: 3 * 24 * time.Hour},
			[]string{"snapshot.longhorn.io/a", "snapshot.longhorn.io/b"}},
		"by both": {Rule{Keep: 1, OlderThan: 3*24*time.Hour + time.Second}, []string{"snapshot.longhorn.io/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Prune(Of(w, "vol-1"), test.rule)
			require.Equal(t, test.want, plan.Names())
			require.Equal(t, 4-len(test.want), plan.Kept)
		})
	}
}

func TestThePlanOfPruningShowsWhyWhatStaysStays(t *testing.T) {
	w := &world.World{Now: noon}
	w.Snapshots.Items = []v1beta2.Snapshot{changed(usable("old", 4), func(s *v1beta2.Snapshot) { s.Status.Size = 1 << 20 }),
		changed(usable("head", 3), func(s *v1beta2.Snapshot) { s.Status.Children = map[string]bool{v1beta2.VolumeHead: true} }),
		changed(usable("system", 2), func(s *v1beta2.Snapshot) { s.Spec.CreateSnapshot, s.Status.UserCreated = false, false })}
	require.Equal(t, `DELETED   SIZE    TAKEN    PURPOSE
old       1 MiB   4d ago   person

REFUSED   SIZE    TAKEN    REASON
head      0 GiB   3d ago   The volume's head builds on it: it can go once there is a newer one.

NOT COUNTED   SIZE    TAKEN    REASON
system        0 GiB   2d ago   The system took it.

volume vol-1: 1 to delete (1 MiB), 1 refused, 1 not counted, 0 kept
`, text(Prune(Of(w, "vol-1"), Rule{})))
	w.Snapshots.Items = w.Snapshots.Items[:1]
	require.Equal(t, "volume vol-1: 0 to delete (0 GiB), 0 refused, 0 not counted, 1 kept\n", text(Prune(Of(w, "vol-1"), Rule{Keep: 1})))
}

func TestASnapshotOfTheTreeHasWhatItsObjectReports(t *testing.T) {
	w := one(func(s *v1beta2.Snapshot) { s.Status.Parent, s.Status.Size = "root", 7 })
	require.Equal(t, []Snapshot{{Name: "snap", Parent: "root", Taken: "2026-07-30T12:00:00Z", SizeBytes: 7, Ready: true, Purpose: "person"}},
		Of(w, "vol-1").Snapshots)
	w.Snapshots.Items[0].Status.ReadyToUse = false
	require.False(t, Of(w, "vol-1").Snapshots[0].Ready)
	w.Snapshots.Items = []v1beta2.Snapshot{usable("b", 2), usable("c", 2), usable("a", 2)}
	require.Equal(t, []string{"snapshot.longhorn.io/a", "snapshot.longhorn.io/b", "snapshot.longhorn.io/c"}, Of(w, "vol-1").Names(),
		"those of one second are in the order of their names")
}

// step is what is reported, and what then no longer holds.
type step struct {
	want string
	then func()
}

// follow checks what is reported at each step.
func follow(t *testing.T, reported func() string, steps []step) {
	t.Helper()
	for _, s := range steps {
		require.Equal(t, s.want, reported())
		s.then()
	}
}

// Whoever wonders whether a snapshot may go is shown the one that asked for it first.
func TestTheFirstOriginOfASnapshotIsNamed(t *testing.T) {
	w := one(func(s *v1beta2.Snapshot) {
		s.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByUpgradeController}
		s.Spec.Labels = map[string]string{v1beta2.LabelRecurringJob: "daily"}
		s.Status.Labels = map[string]string{v1beta2.LabelRecurringJob: "weekly"}
	})
	w.Contents.Items = []volumesnapshot.Content{{ObjectMeta: metav1.ObjectMeta{Name: "content-1"}, Spec: volumesnapshot.ContentSpec{
		Driver: volumesnapshot.Driver, Source: volumesnapshot.ContentSource{SnapshotHandle: "snap://vol-1/snap"}}}}
	s := &w.Snapshots.Items[0]
	follow(t, func() string { return Of(w, "vol-1").Snapshots[0].Purpose }, []step{
		{"recurring job daily", func() { s.Spec.Labels = nil }},
		{"recurring job weekly", func() { s.Status.Labels = nil }},
		{"VolumeSnapshotContent content-1", func() { w.Contents.Items = nil }},
		{"upgrade-controller", func() { s.Labels = nil }},
		{"person", func() { s.Status.UserCreated = false }},
		{"person", func() { s.Spec.CreateSnapshot = false }},
		{"system", func() { s.Status.UserCreated = true }},
		{"person", func() {}},
	})
}

func TestTheFirstReasonWhyItIsNoRestorePointIsNamed(t *testing.T) {
	w := one(func(s *v1beta2.Snapshot) {
		s.DeletionTimestamp, s.Spec.CreateSnapshot = &metav1.Time{Time: noon}, false
		s.Status = v1beta2.SnapshotStatus{MarkRemoved: true, Error: "no space", CreationTime: "yesterday", Conditions: []v1beta2.Condition{
			{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: "Lost"}}}
	})
	s := &w.Snapshots.Items[0]
	follow(t, func() string { return Of(w, "vol-1").Snapshots[0].NotCounted }, []step{
		{"It is being deleted.", func() { s.DeletionTimestamp = nil }},
		{"The engine marked it removed: it waits for a purge.", func() { s.Status.MarkRemoved = false }},
		{"It is not ready: Lost.", func() { s.Status.Conditions[0].Status = v1beta2.ConditionTrue }},
		{"no space", func() { s.Status.ReadyToUse = true }},
		{"It has no creation time.", func() { s.Status.CreationTime = "2026-07-30T12:00:00Z" }},
		{"The system took it.", func() { s.Spec.CreateSnapshot = true }},
		{"", func() {}},
	})
}

func TestTheFirstReasonWhyItMustStayIsNamed(t *testing.T) {
	w := one(func(s *v1beta2.Snapshot) {
		s.Status.CreationTime, s.Status.Children = "", map[string]bool{v1beta2.VolumeHead: true}
	})
	w.Contents.Items = []volumesnapshot.Content{{ObjectMeta: metav1.ObjectMeta{Name: "content-1"}, Spec: volumesnapshot.ContentSpec{
		Driver: volumesnapshot.Driver, Source: volumesnapshot.ContentSource{SnapshotHandle: "snap://vol-1/snap"}}}}
	w.Backups.Items = []v1beta2.Backup{{ObjectMeta: metav1.ObjectMeta{Name: "b-1"}, Spec: v1beta2.BackupSpec{SnapshotName: "snap"}}}
	w.NodeUpgrades.Items = []v1beta2.NodeDataEngineUpgrade{{ObjectMeta: metav1.ObjectMeta{Name: "u-1"},
		Status: v1beta2.NodeDataEngineUpgradeStatus{Volumes: map[string]v1beta2.VolumeUpgradeStatus{"vol-1": {Snapshot: "snap"}}}}}
	w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1", DeletionTimestamp: &metav1.Time{Time: noon}},
		Spec: v1beta2.VolumeSpec{DataSource: "snap://vol-1/snap", CloneMode: v1beta2.CloneModeLinked, RevertToSnapshot: "snap",
			RevertRequestedAt: "2026-08-01T11:00:00Z"}}}
	v, s := &w.Volumes.Items[0], &w.Snapshots.Items[0]
	follow(t, func() string { return Of(w, "vol-1").Snapshots[0].Needed }, []step{
		{"Backup b-1 copies it: wait until that has ended.", func() { w.Backups.Items[0].Status.State = v1beta2.BackupCompleted }},
		{"NodeDataEngineUpgrade u-1 took it and is not over: wait until that has ended.", func() { v.DeletionTimestamp = nil }},
		{"Volume vol-1 is a linked clone and shares its data, for as long as that volume lives.", func() { v.Spec.CloneMode = "" }},
		{"Volume vol-1 is being cloned from it: wait until that has ended.", func() { v.Spec.DataSource = "" }},
		{"The volume is being reverted to it: wait until that has ended.", func() { v.Spec.RevertToSnapshot = "other" }},
		{"NodeDataEngineUpgrade u-1 took it and is not over: wait until that has ended.", func() { w.NodeUpgrades.Items = nil }},
		{"It was not taken yet.", func() { s.Status.CreationTime = "2026-07-30T12:00:00Z" }},
		{"The volume's head builds on it: it can go once there is a newer one.", func() { s.Status.Children = nil }},
		{"It is behind VolumeSnapshotContent content-1 of Kubernetes: delete that.", func() { w.Contents.Items = nil }},
		{"It is the newest that was backed up, from which the next backup is computed.", func() { w.Backups.Items = nil }},
		{"", func() {}},
	})
}

// Another volume may have a snapshot, a clone or a backup of the same kind: it needs only its own.
func TestWhatBelongsToAnotherVolumeKeepsNoSnapshot(t *testing.T) {
	needed := func(change func(*world.World)) string {
		w := one(asItIs)
		w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-2"}}}
		change(w)
		return Of(w, "vol-1").Snapshots[0].Needed
	}
	require.Empty(t, needed(func(w *world.World) {
		w.Volumes.Items[0].Spec.RevertToSnapshot, w.Volumes.Items[0].Spec.RevertRequestedAt = "snap", "2026-08-01T11:00:00Z"
	}), "it is reverted to a snapshot of its own")
	require.Empty(t, needed(func(w *world.World) {
		w.Volumes.Items[0].Spec.DataSource, w.Volumes.Items[0].Spec.CloneMode = "snap://vol-1/other", v1beta2.CloneModeLinked
	}), "it shares another one's data")
	require.Empty(t, needed(func(w *world.World) {
		w.Volumes.Items[0].Status.CloneStatus = v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated, SourceVolume: "vol-1", Snapshot: "other"}
	}), "it is cloned from another one")
	require.Empty(t, needed(func(w *world.World) {
		w.Volumes.Items[0].Status.CloneStatus = v1beta2.VolumeCloneStatus{State: v1beta2.CloneCompleted, SourceVolume: "vol-1", Snapshot: "snap"}
	}), "it was cloned from it")
	backedUp := func(name string) v1beta2.Backup {
		return v1beta2.Backup{Spec: v1beta2.BackupSpec{SnapshotName: name}, Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted}}
	}
	require.NotEmpty(t, needed(func(w *world.World) {
		w.Snapshots.Items = append(w.Snapshots.Items, changed(usable("newer", 1), func(s *v1beta2.Snapshot) { s.Spec.Volume = "vol-2" }))
		w.Backups.Items = []v1beta2.Backup{backedUp("snap"), backedUp("newer")}
	}), "the newer backup is of the other volume")
}
