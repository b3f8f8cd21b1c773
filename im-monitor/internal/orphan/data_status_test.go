package orphan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// dataOrphan is the verdict on the Orphan of data.
func dataOrphan(change ...func(*orphan.World)) orphan.OrphanVerdict {
	v := orphan.Evaluate(lying(change...))
	return v.Orphans[len(v.Orphans)-1]
}

func stands(o *orphan.Orphan) { o.Deleting = false }

func listedAs(o *orphan.Orphan) {
	o.Conditions = append(o.Conditions,
		v1beta2.Condition{Type: v1beta2.OrphanOrphaned, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonDataOnly},
		v1beta2.Condition{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionTrue, Reason: "stopped", Message: "It is listed."})
}

func TestAnOrphanOfDataEndsForTheseReasons(t *testing.T) {
	for _, c := range []struct {
		name       string
		v          orphan.OrphanVerdict
		withdrawn  string
		terminated bool
		text       string
	}{
		{"the data is on its disk", dataOrphan(orphanedData()), "", false, ""},
		{"no one deleted it, and it is gone", dataOrphan(noInstance, orphanedData(stands, gone)), v1beta2.ReasonInstanceGone, false,
			"The data of vol-1-r-aabbccdd disappeared from disk disk-1"},
		{"it was deleted, and is gone", dataOrphan(noInstance, orphanedData(gone)), "", true, ""},
		{"one list without it proves nothing", dataOrphan(noInstance, orphanedData()), "", false, ""},
		{"it has the name of other data", dataOrphan(orphanedData(func(o *orphan.Orphan) { o.Name = "orphan-other" })),
			v1beta2.ReasonRenamed, false, "is not the one of the data of vol-1-r-aabbccdd"},
		{"a Replica of its name appeared", dataOrphan(claimed(elsewhere), orphanedData()), v1beta2.ReasonClaimed, false,
			"Replica vol-1-r-aabbccdd exists"},
		{"a Replica appeared and the data is gone", dataOrphan(noInstance, claimed(elsewhere), orphanedData(gone)), "", true, ""},
		{"its node is down", dataOrphan(orphanedData(), func(w *orphan.World) { w.Node.Down = true }), v1beta2.ReasonNotCleanable, false,
			"The orphan ends and the data stays"},
		{"its node is gone", dataOrphan(orphanedData(), func(w *orphan.World) { w.Node = nil }), v1beta2.ReasonNotCleanable, false,
			"Node node-1 does not exist"},
		{"its node is evicted", dataOrphan(orphanedData(), func(w *orphan.World) { w.Node.Evicting = true }), v1beta2.ReasonNotCleanable,
			false, "Node node-1 is being evicted."},
		{"its disk is evicted", dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.Evicting = true })),
			v1beta2.ReasonNotCleanable, false, "Disk disk-1 of node node-1 is being evicted."},
		{"its disk has another name", dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.Name = "disk-7" })),
			v1beta2.ReasonNotCleanable, false, "is disk disk-7 at /dev/a now"},
		{"its disk has another path", dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.Path = "/dev/z" })),
			v1beta2.ReasonNotCleanable, false, "is disk disk-1 at /dev/z now"},
		{"its disk left the node", dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.UUID = "else" })),
			v1beta2.ReasonNotCleanable, false, "no ready disk with UUID"},
		{"its disk is not loaded yet", dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.Ready = false })), "", false, ""},
		{"its disk could not be loaded", dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.Ready, d.Failed = false, true })),
			v1beta2.ReasonNotCleanable, false, "no ready disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.withdrawn, c.v.Withdrawn)
			require.Equal(t, c.terminated, c.v.Terminated)
			if c.withdrawn != "" || c.terminated {
				require.False(t, c.v.Execute, "nothing is left to destroy, or it must not be")
			}
			got := conditions.Get(c.v.Conditions, v1beta2.OrphanWithdrawn)
			if c.withdrawn == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, c.withdrawn, got.Reason)
			require.Contains(t, got.Message, c.text)
		})
	}
}

func TestDataIsDestroyedOnlyWhileItsDiskIsLoadedAndItsDeletionIsApproved(t *testing.T) {
	require.True(t, dataOrphan(orphanedData()).Execute)
	require.False(t, dataOrphan(orphanedData(func(o *orphan.Orphan) { o.Conditions = nil })).Execute, "no one approved it")
	require.False(t, dataOrphan(orphanedData(), theDisk(func(d *orphan.Disk) { d.Ready = false })).Execute)
	require.False(t, dataOrphan(orphanedData(), unknownList).Execute)
	delayed := dataOrphan(orphanedData(func(o *orphan.Orphan) { o.FencingDelayed, o.OwnerID = true, "node-9" }))
	require.False(t, delayed.Execute, "a new leader waits until calls of the one before have ended")
	require.Equal(t, "node-9", delayed.OwnerID)
}

func TestTheStateOfDataIsReportedOnEvidenceOnly(t *testing.T) {
	get := func(change ...func(*orphan.World)) *v1beta2.Condition {
		return conditions.Get(dataOrphan(change...).Conditions, v1beta2.OrphanInstanceState)
	}
	listed := get(orphanedData())
	require.Equal(t, v1beta2.ConditionTrue, listed.Status)
	require.Equal(t, "stopped", listed.Reason)
	require.Contains(t, listed.Message, "is listed as stopped on disk disk-1 by "+here)
	for name, ended := range map[string]*v1beta2.Condition{"deleted": get(noInstance, orphanedData(gone)),
		"disappeared": get(noInstance, orphanedData(stands, gone))} {
		require.Equal(t, v1beta2.ConditionFalse, ended.Status, name)
		require.Equal(t, v1beta2.InstanceStateTerminated, ended.Reason, name)
		require.Contains(t, ended.Message, "is not on disk disk-1 of node node-1 any more", name)
	}
	onAnotherDisk := func(w *orphan.World) { w.Inventory.Instance.DiskUUID = "another" }
	for name, unknown := range map[string]*v1beta2.Condition{"no list": get(unknownList, orphanedData()),
		"one list without it": get(noInstance, orphanedData()), "listed on another disk": get(onAnotherDisk, orphanedData())} {
		require.Nil(t, unknown, name)
	}
	kept := get(onAnotherDisk, orphanedData(listedAs))
	require.Equal(t, "It is listed.", kept.Message, "what was reported stays")
}

func TestDataThatIsListedOnAnotherDiskProvesNothingOfThisOrphan(t *testing.T) {
	v := dataOrphan(orphanedData(), func(w *orphan.World) { w.Inventory.Instance.DiskUUID = "another" })
	require.False(t, v.Execute)
	require.Nil(t, conditions.Get(v.Conditions, v1beta2.OrphanOrphaned), "it is the other data that is orphaned")
	require.True(t, conditions.IsTrue(dataOrphan(orphanedData()).Conditions, v1beta2.OrphanOrphaned))
}

// A server lists no replica of a disk that it has not loaded.
func TestWhileADiskIsNotLoadedTheStateOfItsReplicasIsThatOfTheLastList(t *testing.T) {
	unloaded := func(o *orphan.Orphan) { o.Unloaded = []string{"disk-1", "disk-2"} }
	for name, v := range map[string]orphan.OrphanVerdict{
		"data":     dataOrphan(noInstance, orphanedData(listedAs, unloaded)),
		"instance": orphan.Evaluate(seen(v2, noInstance, known(listedAs, unloaded))).Orphans[0],
	} {
		c := conditions.Get(v.Conditions, v1beta2.OrphanInstanceState)
		require.Equal(t, v1beta2.ConditionTrue, c.Status, name)
		require.Equal(t, "stopped", c.Reason, name)
		require.Contains(t, c.Message, "it has not loaded disk disk-1, disk-2 of node node-1", name)
		require.Contains(t, c.Message, "Repair the disk", name)
		require.Empty(t, v.Withdrawn, name)
		require.False(t, v.Terminated, name)
	}
	never := dataOrphan(noInstance, orphanedData(unloaded))
	require.Nil(t, conditions.Get(never.Conditions, v1beta2.OrphanInstanceState), "a state that was never listed is not invented")
}

func TestWhetherDataCanBeCleanedUpIsACondition(t *testing.T) {
	can := conditions.Get(dataOrphan(orphanedData()).Conditions, v1beta2.OrphanDataCleanable)
	require.Equal(t, v1beta2.ConditionTrue, can.Status)
	require.Empty(t, can.Reason)
	for reason, change := range map[string]func(*orphan.World){
		v1beta2.ReasonNodeUnavailable: func(w *orphan.World) { w.Node.Deleting = true },
		v1beta2.ReasonNodeEvicted:     func(w *orphan.World) { w.Node.Evicting = true },
		v1beta2.ReasonDiskInvalid:     theDisk(func(d *orphan.Disk) { d.Ready = false }),
		v1beta2.ReasonDiskChanged:     theDisk(func(d *orphan.Disk) { d.Path = "/dev/z" }),
		v1beta2.ReasonDiskEvicted:     theDisk(func(d *orphan.Disk) { d.Evicting = true }),
	} {
		c := conditions.Get(dataOrphan(orphanedData(), change).Conditions, v1beta2.OrphanDataCleanable)
		require.Equal(t, v1beta2.ConditionFalse, c.Status, reason)
		require.Equal(t, reason, c.Reason)
		require.NotEmpty(t, c.Message)
	}
}

func TestAFailedCleanupOfDataIsReportedAsLonghornReportsItToo(t *testing.T) {
	failed := func(o *orphan.Orphan) {
		o.Failure = &orphan.Failure{Reason: v1beta2.ReasonRefused, Message: "It is in use."}
	}
	v := dataOrphan(orphanedData(failed))
	own, theirs := conditions.Get(v.Conditions, v1beta2.OrphanCleanupFailed), conditions.Get(v.Conditions, v1beta2.OrphanError)
	require.Equal(t, v1beta2.ConditionTrue, own.Status)
	require.Equal(t, []string{string(own.Status), own.Reason, own.Message}, []string{string(theirs.Status), theirs.Reason, theirs.Message})
	old := func(o *orphan.Orphan) {
		o.Conditions = append(o.Conditions, v1beta2.Condition{Type: v1beta2.OrphanError, Status: v1beta2.ConditionTrue})
	}
	now := conditions.Get(dataOrphan(orphanedData(old)).Conditions, v1beta2.OrphanError)
	require.NotNil(t, now, "whoever wrote it keeps it")
	require.Equal(t, v1beta2.ConditionFalse, now.Status, "nothing failed")
	require.Nil(t, conditions.Get(dataOrphan(orphanedData()).Conditions, v1beta2.OrphanError))
}

func TestTheReverificationConfirmsOnlyTheOrphanThatTheFirstOneRequired(t *testing.T) {
	both := orphan.Evaluate(lying())
	require.NotNil(t, both.CreateData)
	instance := orphan.Evaluate(seen())
	require.Equal(t, []*orphan.Creation{instance.Create}, instance.Creations())
	require.Nil(t, orphan.Evaluate(seen(claimed())).Creations(), "nothing is missing")
	for _, c := range both.Creations() {
		require.True(t, orphan.Evaluate(lying()).Confirms(c))
		require.False(t, orphan.Evaluate(lying(claimed(elsewhere))).Confirms(both.CreateData), "a Replica appeared in between")
		require.False(t, orphan.Evaluate(lying(unknownList)).Confirms(c), "an unknown list confirms nothing")
	}
	other := orphan.Evaluate(seen(func(w *orphan.World) { w.Inventory.Instance.UUID = uuid2 }))
	require.False(t, other.Confirms(instance.Create), "another instance has the name now")
}
