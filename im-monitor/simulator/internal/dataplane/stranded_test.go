package dataplane

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mode is how an engine holds a replica.
func (c *cluster) mode(ref Ref, replica string) string {
	c.t.Helper()
	e, err := c.servers[0].Engine(ref)
	require.NoError(c.t, err)
	return e.Modes[replica]
}

// strand adds a v1 replica to an engine, disconnects the caller during the copy, and lets the copy end.
func (c *cluster) strand(ref Ref, added string) {
	c.t.Helper()
	c.strandAfter(ref, added, 500*time.Millisecond)
}

// strandAfter disconnects the caller after a part of the second that the copy takes, of which a fifth is its preparation.
func (c *cluster) strandAfter(ref Ref, added string, after time.Duration) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	answered := make(chan error, 1)
	go func() { answered <- c.servers[0].ReplicaAdd(ctx, ref, Addition{Address: added}) }()
	require.Eventually(c.t, func() bool {
		list, err := c.servers[0].Rebuilds(ref)
		return err == nil && len(list) == 1
	}, time.Minute, time.Millisecond)
	c.step(after)
	cancel()
	require.ErrorIs(c.t, <-answered, context.Canceled)
	c.step(2 * time.Second)
}

func TestAV1RebuildWhoseCallerGoesAwayIsCompleteAndStaysWO(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	kept := c.replica(0, "vol")
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: kept})
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	c.strand(ref, added)
	list, err := c.servers[0].Rebuilds(ref)
	require.NoError(t, err)
	require.Equal(t, Progress{Percent: 100, State: JobComplete}, list[0].Progress)
	c.step(time.Hour)
	require.Equal(t, ModeWO, c.mode(ref, "vol-r-1"))
	require.True(t, c.servers[1].instances["vol-r-1"].dataOf().partial, "its data stays marked as unfinished")
	c.healthy("vol")

	c.close(0, "vol-e-0", TypeEngine)
	ref = c.open(0, "vol-e-1", "vol", map[int]string{0: kept, 1: added})
	require.Equal(t, ModeERR, c.mode(ref, "vol-r-1"), "the next start leaves it out")
	c.healthy("vol")
}

// A v1 engine that gets a single address clears the mark of an unfinished rebuild there, and serves what there is.
func TestAV1EngineOverOneUnfinishedReplicaServesIt(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	kept := c.replica(0, "vol")
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: kept})
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	c.strand(ref, added)
	c.write("vol", 2, "later")
	c.close(0, "vol-e-0", TypeEngine)
	require.True(t, c.servers[1].instances["vol-r-1"].dataOf().partial)

	ref = c.open(0, "vol-e-1", "vol", map[int]string{1: added})
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"))
	require.False(t, c.servers[1].instances["vol-r-1"].dataOf().partial, "the mark is gone")
}

func TestAV1RebuildWhoseCallerGoesAwayBeforeTheCopyCopiesNothing(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	kept := c.replica(0, "vol")
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: kept})
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	c.strandAfter(ref, added, 100*time.Millisecond)
	c.step(time.Hour)
	list, err := c.servers[0].Rebuilds(ref)
	require.NoError(t, err)
	require.Equal(t, []RebuildStatus{{Address: added}}, list)
	require.Equal(t, ModeWO, c.mode(ref, "vol-r-1"))
	c.healthy("vol")
}

func TestAReplicaWhoseCopyNeverBeganIsNotMarkedAsUnfinished(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	c.uncounted = true
	kept := c.replica(0, "vol")
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: kept}, "--disableRevCounter")
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	c.strandAfter(ref, added, 0)
	c.close(0, "vol-e-0", TypeEngine)
	c.open(0, "vol-e-1", "vol", map[int]string{0: kept, 1: added}, "--disableRevCounter")
	require.Equal(t, []string{EffectMixedReplicas}, c.wrongs(), "an engine that is given such a replica reads it")
}

func TestARebuildThatIsHeldBeforeItsCopyHasNoState(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: HeldBefore})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	added := c.replica(1, "vol")
	_, err := c.servers[0].beginRebuild(ref, Addition{Address: added})
	require.NoError(t, err)
	c.step(time.Minute)
	list, err := c.servers[0].Rebuilds(ref)
	require.NoError(t, err)
	require.Equal(t, []RebuildStatus{{Address: added}}, list)
	c.plane.SetCopyTime("", 0)
	c.step(time.Minute)
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"))
	list, err = c.servers[0].Rebuilds(ref)
	require.NoError(t, err)
	require.Empty(t, list, "a replica in mode RW has no status")
}

func TestAVerifiedStrandedReplicaIsReadWithoutWhatWasCopied(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	kept := c.replica(0, "vol")
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: kept})
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	c.strand(ref, added)
	require.NoError(t, c.servers[0].VerifyRebuild(ref, "", added))
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"))
	require.Equal(t, []string{EffectMixedReplicas}, c.wrongs())
	require.True(t, c.servers[1].instances["vol-r-1"].dataOf().partial, "nothing is cleared on disk")
}

func TestAStrandedReplicaThatIsRemovedAndAddedAgainIsWhole(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	c.strand(ref, added)
	require.ErrorContains(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added}), "one WO replica")
	require.NoError(t, c.servers[0].ReplicaRemove(ref, "vol-r-1", added))
	c.plane.SetCopyTime("", 0)
	require.NoError(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added}))
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"))
	c.healthy("vol")
}

func TestAVerifiedReplicaThatLacksDisksFails(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	added := c.replica(1, "vol")
	_, err := c.servers[0].beginRebuild(ref, Addition{Address: added})
	require.NoError(t, err)
	require.ErrorContains(t, c.servers[0].VerifyRebuild(ref, "", added), "disks")
	require.Equal(t, ModeERR, c.mode(ref, "vol-r-1"))
}

func TestAV1ReplicaThatIsAddedForARestoreStaysWOUntilItIsVerified(t *testing.T) {
	target := "file://" + t.TempDir()
	c := newCluster(t, V1, Behaviour{})
	saved := c.open(0, "src-e-0", "src", map[int]string{0: c.replica(0, "src")})
	c.write("src", 1, "saved")
	_, err := c.servers[0].Snapshot(saved, "s", nil)
	require.NoError(t, err)
	_, replica, _, err := c.servers[0].Backup(saved, Order{Name: "b", Snapshot: "s", Target: target})
	require.NoError(t, err)
	backup, err := c.servers[0].BackupStatus(saved, "b", replica)
	require.NoError(t, err)

	c.plane.SetCopyTime("", time.Second)
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")}, "--frontend", "")
	added := c.replica(1, "vol")
	require.NoError(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added, Restore: true}), "answered at once")
	rebuilds, err := c.servers[0].Rebuilds(ref)
	require.NoError(t, err)
	require.Equal(t, []RebuildStatus{{Address: added}}, rebuilds, "its rebuild has no state")
	require.NoError(t, c.servers[0].Restore(ref, backup.URL, target, ""))
	require.ErrorContains(t, c.servers[0].Restore(ref, backup.URL, target, ""), "in progress")
	rebuilds, err = c.servers[0].Rebuilds(ref)
	require.NoError(t, err)
	require.Empty(t, rebuilds, "there is no status of rebuilds during a restore")
	c.step(2 * time.Second)
	require.Equal(t, ModeWO, c.mode(ref, "vol-r-1"), "nothing but the verification makes it RW")
	require.NoError(t, c.servers[0].VerifyRebuild(ref, "", added))
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"))
	require.False(t, c.servers[0].instances["vol-e-0"].run.mixed())
}

// The replica that has the backup refuses it, and the one that was added is filled.
func TestAReplicaThatIsAddedAfterARestoreIsFilledByAskingForTheSameBackup(t *testing.T) {
	target := "file://" + t.TempDir()
	c := newCluster(t, V1, Behaviour{})
	c.open(0, "src-e-0", "src", map[int]string{0: c.replica(0, "src")})
	c.write("src", 1, "saved")
	saved, err := c.plane.Save("src", "s", "b", target)
	require.NoError(t, err)
	kept := c.replica(0, "vol")
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: kept}, "--frontend", "")
	require.NoError(t, c.servers[0].Restore(ref, saved.URL, target, ""))
	snapshots := len(c.servers[0].instances["vol-r-0"].dataOf().List())

	c.plane.SetCopyTime("", time.Second)
	added := c.replica(1, "vol")
	require.NoError(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added, Restore: true}))
	require.Len(t, c.servers[0].instances["vol-r-0"].dataOf().List(), snapshots, "no snapshot is taken")
	refused := c.servers[0].Restore(ref, saved.URL, target, "")
	var task *TaskError
	require.ErrorAs(t, refused, &task)
	require.JSONEq(t, `{"ReplicaErrors":[{"Address":"tcp://`+kept+`","Message":"already restored backup b"}]}`, string(task.Text()))
	list, err := c.servers[0].RestoreStatus(ref)
	require.NoError(t, err)
	require.True(t, list[added].Running)
	require.Empty(t, list[added].Last)
	require.False(t, list[kept].Running)
	require.Equal(t, "b", list[kept].Last)
	c.step(2 * time.Second)
	list, err = c.servers[0].RestoreStatus(ref)
	require.NoError(t, err)
	require.Equal(t, "b", list[added].Last)
	require.NoError(t, c.servers[0].VerifyRebuild(ref, "", added))
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"))
	require.False(t, c.servers[0].instances["vol-e-0"].run.mixed())
}

func TestAReplicaThatWasAddedForARestoreAndIsNotFilledIsNotVerified(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	kept := c.replica(0, "vol")
	c.open(0, "vol-e-0", "vol", map[int]string{0: kept})
	c.write("vol", 1, "x")
	c.close(0, "vol-e-0", TypeEngine)
	ref := c.open(0, "vol-e-1", "vol", map[int]string{0: kept}, "--frontend", "")
	added := c.replica(1, "vol")
	require.NoError(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added, Restore: true}))
	require.ErrorContains(t, c.servers[0].VerifyRebuild(ref, "", added), "disks")
	require.Equal(t, ModeERR, c.mode(ref, "vol-r-1"))
}
