package orphan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// lying is a World with the data of a v2 replica without an object on a ready disk of its node.
func lying(change ...func(*orphan.World)) orphan.World {
	return seen(append([]func(*orphan.World){v2, state("stopped"), func(w *orphan.World) {
		w.Inventory.Instance.DiskUUID = lvstore
		w.Node.Disks = []orphan.Disk{{Name: "disk-0", UUID: "another", Path: "/dev/b", Ready: true},
			{Name: "disk-1", Path: "/dev/a", UUID: lvstore, Ready: true}}
	}}, change...)...)
}

func theDisk(f func(*orphan.Disk)) func(*orphan.World) {
	return func(w *orphan.World) { f(&w.Node.Disks[1]) }
}

// orphanedData adds the Orphan of that data, deleted and approved.
func orphanedData(change ...func(*orphan.Orphan)) func(*orphan.World) {
	return func(w *orphan.World) {
		o := orphan.Orphan{Name: v1beta2.OrphanDataName("node-1", "disk-1", "/dev/a", lvstore, replica), OrphanType: "replica",
			DataEngine: "v2", Node: "node-1",
			InstanceName: replica, InstanceManager: here, DiskUUID: lvstore,
			Data:     &orphan.Data{DiskName: "disk-1", DiskUUID: lvstore, DiskPath: "/dev/a"},
			Deleting: true, DeletionSeen: now.Add(-time.Minute),
			Conditions: []v1beta2.Condition{{Type: v1beta2.OrphanCleanupApproved, Status: v1beta2.ConditionTrue,
				Reason: v1beta2.ReasonApproved}}}
		for _, f := range change {
			f(&o)
		}
		w.Orphans = append(w.Orphans, o)
	}
}

func TestDataGetsItsOwnOrphanWhereItCanBeCleanedUp(t *testing.T) {
	for _, c := range []struct {
		name string
		w    orphan.World
		want string
	}{
		{"it is on a ready disk", lying(), v1beta2.ReasonDataOnly},
		{"it came with its disk", lying(theDisk(func(d *orphan.Disk) { d.Foreign = true })), v1beta2.ReasonForeignData},
		{"it has an orphan", lying(orphanedData()), ""},
		{"its runtime lives", lying(state("running")), ""},
		{"a Replica of its name exists, wherever", lying(claimed(elsewhere)), ""},
		{"the list does not report its disk", lying(func(w *orphan.World) { w.Inventory.Instance.DiskUUID = "" }), ""},
		{"no disk of the node has that UUID", lying(theDisk(func(d *orphan.Disk) { d.UUID = "new" })), ""},
		{"the disk is not ready", lying(theDisk(func(d *orphan.Disk) { d.Ready = false })), ""},
		{"the disk is evicted", lying(theDisk(func(d *orphan.Disk) { d.Evicting = true })), ""},
		{"the node is evicted", lying(func(w *orphan.World) { w.Node.Evicting = true }), ""},
		{"two servers list it", lying(func(w *orphan.World) { w.Duplicate = there }), ""},
		{"the list is unknown", lying(unknownList), ""},
		{"v1 has no data here", seen(state("stopped"), func(w *orphan.World) { w.Inventory.Instance.DiskUUID = lvstore }), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := orphan.Evaluate(c.w).CreateData
			if c.want == "" {
				require.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			require.Equal(t, v1beta2.OrphanDataName("node-1", "disk-1", "/dev/a", lvstore, replica), got.Name)
			require.Equal(t, orphan.Evaluate(c.w).Evaluation.Reason, c.want, "the instance's orphan reports the same")
		})
	}
}

// ORP-2: data is destroyed only on the ready disk that the Orphan names, while no runtime uses it and no Replica has its name.
func TestOnlyDataThatIsStillOrphanedOnItsDiskIsDestroyed(t *testing.T) {
	executed := 0
	rapid.Check(t, func(t *rapid.T) {
		flip := func(name string) bool { return rapid.IntRange(0, 11).Draw(t, name) == 7 }
		w := lying(orphanedData(func(o *orphan.Orphan) {
			o.Absent, o.FencingDelayed, o.Deleting = flip("absent"), flip("delayed"), !flip("standing")
			if flip("not approved") {
				o.Conditions = nil
			}
			if flip("renamed") {
				o.Name = "orphan-other"
			}
		}))
		w.Node.Down, w.Node.Deleting, w.Node.Evicting = flip("down"), flip("node goes"), flip("evicting")
		w.Node.Disks[1].Ready, w.Node.Disks[1].Evicting = !flip("not ready"), flip("disk evicting")
		if flip("moved") {
			w.Node.Disks[1].Path = "/dev/c"
		}
		if flip("claimed") {
			claimed(detached)(&w)
		}
		w.Inventory.Instance.State = rapid.SampledFrom([]string{"stopped", "stopped", "running", "error", "pending"}).Draw(t, "state")
		w.Inventory.Instance.DiskUUID = rapid.SampledFrom([]string{lvstore, lvstore, "another", ""}).Draw(t, "disk")
		if flip("unlisted") {
			w.Inventory.Instance = nil
		}
		v := orphan.Evaluate(w)
		o := v.Orphans[0]
		require.Equal(t, v, orphan.Evaluate(w))
		if !o.Execute {
			return
		}
		executed++
		require.False(t, w.Node.Down || w.Node.Deleting || w.Node.Evicting || w.Node.Disks[1].Evicting || w.Orphans[0].FencingDelayed)
		require.Nil(t, w.Replica)
		require.True(t, w.Node.Disks[1].Ready && w.Node.Disks[1].Path == "/dev/a" && w.Orphans[0].Deleting)
		require.Equal(t, lvstore, w.Inventory.Instance.DiskUUID)
		require.Contains(t, []string{"stopped", "pending"}, w.Inventory.Instance.State)
		require.Empty(t, o.Withdrawn)
		require.False(t, o.Terminated)
	})
	require.Positive(t, executed)
}

// After each start of a server its disks are not ready for a while: no orphan ends, and no data is destroyed meanwhile.
func TestADataOrphanStaysWhileItsDiskIsNotReady(t *testing.T) {
	for _, c := range []struct {
		name             string
		deleting, failed bool
		withdrawn        string
	}{
		{"it is not deleted", false, false, ""},
		{"it is not deleted, and the disk could not be loaded", false, true, ""},
		{"it is deleted, and waits", true, false, ""},
		{"it is deleted, and the disk could not be loaded", true, true, v1beta2.ReasonNotCleanable},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := orphan.Evaluate(lying(orphanedData(func(o *orphan.Orphan) { o.Deleting = c.deleting }),
				theDisk(func(d *orphan.Disk) { d.Ready, d.Failed = false, c.failed }))).Orphans[0]
			require.Equal(t, c.withdrawn, o.Withdrawn)
			require.False(t, o.Execute)
			require.False(t, conditions.IsTrue(o.Conditions, v1beta2.OrphanDataCleanable))
		})
	}
}
