package snapshots

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

var noon = time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)

// usable is a snapshot that a person asked for, taken so many days ago.
func usable(name string, days int) v1beta2.Snapshot {
	return v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.SnapshotSpec{Volume: "vol-1", CreateSnapshot: true},
		Status: v1beta2.SnapshotStatus{ReadyToUse: true, UserCreated: true, CreationTime: noon.AddDate(0, 0, -days).Format(time.RFC3339)}}
}

func changed(s v1beta2.Snapshot, change func(*v1beta2.Snapshot)) v1beta2.Snapshot {
	change(&s)
	return s
}

// --keep leaves that many snapshots that the volume can be brought back to: none of them is one that cannot be used.
func TestOnlyRestorePointsAreCountedAmongThoseThatStay(t *testing.T) {
	unready := func(reason string) func(*v1beta2.Snapshot) {
		return func(s *v1beta2.Snapshot) {
			s.Status.ReadyToUse = false
			s.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: reason}}
		}
	}
	for name, change := range map[string]func(*v1beta2.Snapshot){
		"failed": func(s *v1beta2.Snapshot) {
			unready(v1beta2.ReasonFailed)(s)
			s.Status.CreationTime = ""
		},
		"not taken, without conditions": func(s *v1beta2.Snapshot) { s.Status = v1beta2.SnapshotStatus{} },
		"of an unreadable time":         func(s *v1beta2.Snapshot) { s.Status.CreationTime = "yesterday" },
		"lost":                          unready(v1beta2.ReasonLost),
		"marked removed":                func(s *v1beta2.Snapshot) { s.Status.MarkRemoved = true },
		"of the system":                 func(s *v1beta2.Snapshot) { s.Spec.CreateSnapshot, s.Status.UserCreated = false, false },
		"of an upgrade": func(s *v1beta2.Snapshot) {
			s.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByUpgradeController}
		},
		"being deleted": func(s *v1beta2.Snapshot) { s.DeletionTimestamp = &metav1.Time{Time: noon} },
	} {
		t.Run(name, func(t *testing.T) {
			w := &world.World{Now: noon}
			w.Snapshots.Items = []v1beta2.Snapshot{usable("a", 9), usable("b", 8), usable("c", 7),
				changed(usable("x", 3), change), changed(usable("y", 2), change), changed(usable("z", 1), change)}
			plan := Prune(Of(w, "vol-1"), Rule{Keep: 2})
			require.Len(t, plan.Delete, 1)
			require.Equal(t, "a", plan.Delete[0].Name)
			require.Equal(t, 2, plan.Kept)
			require.Len(t, plan.NotCounted, 3)
			for _, s := range plan.NotCounted {
				require.NotEmpty(t, s.NotCounted)
			}
		})
	}
}

// Without the snapshot of the last backup the next one copies everything again.
func TestTheSnapshotOfTheLastBackupStays(t *testing.T) {
	w := &world.World{Now: noon}
	w.Snapshots.Items = []v1beta2.Snapshot{usable("a", 9), usable("b", 8), usable("c", 7)}
	for _, name := range []string{"a", "b"} {
		w.Backups.Items = append(w.Backups.Items, v1beta2.Backup{Spec: v1beta2.BackupSpec{SnapshotName: name},
			Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted}})
	}
	plan := Prune(Of(w, "vol-1"), Rule{})
	require.Len(t, plan.Refused, 1)
	require.Equal(t, "b", plan.Refused[0].Name)
	require.Len(t, plan.Delete, 2)
}

// The name of a snapshot says nothing about what uses it: its VolumeSnapshotContent does, in whatever form.
func TestWhatIsBehindAVolumeSnapshotContentStays(t *testing.T) {
	const dynamic = "snapshot-0a1b2c3d-0000-4000-8000-00000000000c"
	for name, test := range map[string]struct {
		snapshot string
		change   func(*volumesnapshot.Content)
		stays    bool
	}{
		"none": {dynamic, nil, false},
		"taken for a VolumeSnapshot": {dynamic, func(c *volumesnapshot.Content) {
			c.Spec.Source.VolumeHandle, c.Spec.VolumeSnapshotRef.UID = "vol-1", "0a1b2c3d-0000-4000-8000-00000000000c"
		}, true},
		"of another volume": {dynamic, func(c *volumesnapshot.Content) {
			c.Spec.Source.VolumeHandle, c.Spec.VolumeSnapshotRef.UID = "vol-2", "0a1b2c3d-0000-4000-8000-00000000000c"
		}, false},
		"not bound":   {dynamic, func(c *volumesnapshot.Content) { c.Spec.Source.VolumeHandle = "vol-1" }, false},
		"by a handle": {"by-hand", func(c *volumesnapshot.Content) { c.Spec.Source.SnapshotHandle = "snap://vol-1/by-hand" }, true},
		"of a driver": {"by-hand", func(c *volumesnapshot.Content) {
			c.Spec.Driver, c.Spec.Source.SnapshotHandle = "ebs", "snap://vol-1/by-hand"
		}, false},
		"of a backup":  {"by-hand", func(c *volumesnapshot.Content) { c.Spec.Source.SnapshotHandle = "bak://vol-1/copy" }, true},
		"of an old":    {"by-hand", func(c *volumesnapshot.Content) { c.Spec.Source.SnapshotHandle = "bs://vol-1/copy" }, true},
		"of no backup": {"by-hand", func(c *volumesnapshot.Content) { c.Spec.Source.SnapshotHandle = "bak://vol-1/other" }, false},
		"as reported": {"by-hand", func(c *volumesnapshot.Content) {
			c.Status = &volumesnapshot.ContentStatus{SnapshotHandle: "snap://vol-1/by-hand"}
		}, true},
		"being deleted": {"by-hand", func(c *volumesnapshot.Content) {
			c.DeletionTimestamp, c.Spec.Source.SnapshotHandle = &metav1.Time{Time: noon}, "snap://vol-1/by-hand"
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world.World{Now: noon}
			w.Snapshots.Items = []v1beta2.Snapshot{usable(test.snapshot, 9), usable("newer", 1)}
			w.Backups.Items = []v1beta2.Backup{{ObjectMeta: metav1.ObjectMeta{Name: "copy"}, Spec: v1beta2.BackupSpec{SnapshotName: "by-hand"},
				Status: v1beta2.BackupStatus{State: v1beta2.BackupError}}}
			if test.change != nil {
				content := volumesnapshot.Content{Spec: volumesnapshot.ContentSpec{Driver: volumesnapshot.Driver,
					VolumeSnapshotRef: volumesnapshot.Reference{Namespace: "shop", Name: "daily"}}}
				test.change(&content)
				w.Contents.Items = append(w.Contents.Items, content)
			}
			plan := Prune(Of(w, "vol-1"), Rule{Keep: 1})
			if !test.stays {
				require.Len(t, plan.Delete, 1)
				return
			}
			require.Empty(t, plan.Delete)
			require.Equal(t, "It is behind VolumeSnapshot shop/daily of Kubernetes: delete that.", plan.Refused[0].Needed)
		})
	}
}

// The rule comes first: what it keeps was never meant to go, so that nothing refuses it.
func TestWhatTheRuleKeepsIsNotRefused(t *testing.T) {
	w := &world.World{Now: noon}
	head := func(s *v1beta2.Snapshot) { s.Status.Children = map[string]bool{v1beta2.VolumeHead: true} }
	w.Snapshots.Items = []v1beta2.Snapshot{usable("old", 3), changed(usable("head", 2), head)}
	plan := Prune(Of(w, "vol-1"), Rule{Keep: 1})
	require.Equal(t, []string{"snapshot.longhorn.io/old"}, plan.Names())
	require.Empty(t, plan.Refused)
	require.Equal(t, 1, plan.Kept)
	plan = Prune(Of(w, "vol-1"), Rule{OlderThan: 2*24*time.Hour + 1})
	require.Empty(t, plan.Refused, "it is too new")
	require.Len(t, Prune(Of(w, "vol-1"), Rule{OlderThan: 2 * 24 * time.Hour}).Refused, 1, "it is just old enough, and needed")
}
