package dataplane

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// activity writes, takes snapshots, removes and purges them, at random.
func (c *cluster) activity(t *rapid.T, ref Ref, n int, label string) {
	for i := range n {
		switch rapid.IntRange(0, 6).Draw(t, label) {
		case 5:
			_, _ = c.servers[0].Snapshot(ref, fmt.Sprintf("s%d", rapid.IntRange(0, 5).Draw(t, "snapshot")), nil)
		case 6:
			_ = c.servers[0].SnapshotRemove(ref, []string{fmt.Sprintf("s%d", rapid.IntRange(0, 5).Draw(t, "removed"))})
			_ = c.servers[0].Purge(ref, true, "")
		default:
			c.write("vol", rapid.Int64Range(0, 7).Draw(t, "block"), fmt.Sprintf("%s %d", label, i))
		}
		c.step(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
	}
}

// TestARebuildCopiesTheData writes and takes snapshots before, during and after the rebuild of a replica: in the end it is what its source
// is, in each snapshot too, and no reader ever sees a difference.
func TestARebuildCopiesTheData(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		rapid.Check(t, func(t *rapid.T) {
			c := newCluster(t, engine, Behaviour{CopyTime: time.Second})
			ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 2: c.replica(2, "vol")})
			c.activity(t, ref, rapid.IntRange(0, 10).Draw(t, "before"), "before")
			added := c.replica(1, "vol")
			if rapid.Bool().Draw(t, "had data") {
				c.servers[1].instances["vol-r-1"].dataOf().Write(3, "of old", 1)
			}
			head := c.servers[1].instances["vol-r-1"].UUID
			c.step(2 * time.Second) // a v1 engine that purges refuses additions
			_, err := c.servers[0].beginRebuild(ref, Addition{Address: added})
			require.NoError(t, err)
			c.activity(t, ref, rapid.IntRange(0, 6).Draw(t, "during"), "during")
			c.step(2 * time.Second)
			c.activity(t, ref, rapid.IntRange(0, 6).Draw(t, "after"), "after")
			c.step(2 * time.Second)
			e, err := c.servers[0].Engine(ref)
			require.NoError(t, err)
			require.Equal(t, map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeRW, "vol-r-2": ModeRW}, e.Modes)
			require.Equal(t, engine == V2, head != c.servers[1].instances["vol-r-1"].UUID,
				"V9: a v2 replica has another head once it is rebuilt")
			source, copied := c.servers[0].instances["vol-r-0"].dataOf(), c.servers[1].instances["vol-r-1"].dataOf()
			for _, d := range source.List() {
				want, err := source.Contents(d.Name)
				require.NoError(t, err)
				got, err := copied.Contents(d.Name)
				require.NoError(t, err)
				require.Equal(t, want, got, d.Name)
			}
			require.Len(t, copied.List(), len(source.List()))
			c.healthy("vol")
		})
	})
}

// TestACloneAndARestoreAreWhatWasSaved holds the checksums of a clone and of a restored backup against that of the snapshot they were made
// of.
func TestACloneAndARestoreAreWhatWasSaved(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		target := "file://" + t.TempDir()
		rapid.Check(t, func(t *rapid.T) {
			c := newCluster(t, engine, Behaviour{})
			ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 2: c.replica(2, "vol")})
			c.activity(t, ref, rapid.IntRange(0, 10).Draw(t, "before"), "before")
			_, err := c.servers[0].Snapshot(ref, "saved", nil)
			require.NoError(t, err)
			blocks, err := c.servers[0].instances["vol-r-0"].dataOf().Contents("saved")
			require.NoError(t, err)
			_, replica, _, err := c.servers[0].Backup(ref, Order{Name: "b", Snapshot: "saved", Target: target})
			require.NoError(t, err)
			backup, err := c.servers[0].BackupStatus(ref, "b", replica)
			require.NoError(t, err)
			require.Equal(t, JobComplete, backup.State, backup.Error)
			c.activity(t, ref, rapid.IntRange(0, 5).Draw(t, "after"), "after")
			if !c.servers[0].instances["vol-r-0"].dataOf().Has("saved") {
				t.Fatal("no one removed it")
			}

			clone := c.start(1, "clone-e-0", "clone", map[int]string{1: c.replica(1, "clone"), 2: c.replica(2, "clone")}, "--frontend", "")
			require.NoError(t, c.servers[1].Clone(clone, Source{Address: ref.Address, Engine: "vol-e-0", Volume: "vol", Snapshot: "saved"},
				""))
			status, err := c.servers[1].CloneStatus(clone)
			require.NoError(t, err)
			require.Len(t, status, 2)
			require.Equal(t, chain.Text(blocks.Sum()), c.plane.Volumes("clone")[0].Checksum)

			restored := c.start(1, "restored-e-0", "restored", map[int]string{1: c.replica(1, "restored")}, "--frontend", "")
			require.NoError(t, c.servers[1].Restore(restored, backup.URL, "", ""))
			done, err := c.servers[1].RestoreStatus(restored)
			require.NoError(t, err)
			for _, r := range done {
				require.Equal(t, RestoreStatus{Progress: Progress{Percent: 100, State: JobComplete}, Last: "b", URL: backup.URL}, r)
			}
			require.Equal(t, chain.Text(blocks.Sum()), c.plane.Volumes("restored")[0].Checksum)
			for _, volume := range []string{"vol", "clone", "restored"} {
				c.healthy(volume)
			}
		})
	})
}

// A server reports a backup at the replica that copies, and only while that is in mode RW. A v1 server answers OK where it has no report.
func TestABackupIsReportedAtTheReplicaThatCopiesIt(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{CopyTime: time.Second})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol"), 2: c.replica(2, "vol")})
		_, err := c.servers[0].Snapshot(ref, "s", nil)
		require.NoError(t, err)
		_, replica, _, err := c.servers[0].Backup(ref, Order{Name: "b", Snapshot: "s", Target: "file://" + t.TempDir()})
		require.NoError(t, err)
		is, err := c.servers[0].BackupStatus(ref, "b", replica)
		require.NoError(t, err)
		require.Equal(t, []string{JobRunning, "s", replica, ""}, []string{is.State, is.Snapshot, is.Replica, is.Error})
		unreported := func(name, where string) {
			is, err := c.servers[0].BackupStatus(ref, name, where)
			if engine == V1 {
				require.NoError(t, err)
				require.Equal(t, []string{"", ""}, []string{is.State, is.Snapshot})
				require.Contains(t, is.Error, "Failed to get backup status on")
				return
			}
			require.Equal(t, string(Internal), CodeOf(err))
		}
		unreported("unknown", replica)
		unreported("b", "127.9.9.9:1")
		for _, m := range c.servers[0].instances["vol-e-0"].run.with(ModeRW)[1:] {
			unreported("b", m.address)
		}
		_, err = c.servers[0].BackupStatus(ref, "b", "tcp://"+replica)
		require.Equal(t, engine == V1, err == nil, "a v2 engine knows its replicas without a scheme")
		_, err = c.servers[0].BackupStatus(ref, "b", "")
		require.Equal(t, engine == V1, err == nil, "a v2 engine knows no replica without an address")
		c.servers[0].instances["vol-e-0"].run.memberAt(replica).fail("test")
		_, err = c.servers[0].BackupStatus(ref, "b", replica)
		require.Error(t, err, "it is not in mode RW")
	})
}

func TestAHashIsThatOfTheSnapshot(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{CopyTime: time.Second})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		c.write("vol", 1, "x")
		_, err := c.servers[0].Snapshot(ref, "s", nil)
		require.NoError(t, err)
		require.Error(t, c.servers[0].Hash(ref, "nobody", false, ""))
		require.NoError(t, c.servers[0].Hash(ref, "s", false, ""))
		c.step(2 * time.Second)
		status, err := c.servers[0].HashStatus(ref, "s")
		require.NoError(t, err)
		require.Len(t, status, 1)
		for _, h := range status {
			require.Equal(t, chain.Text(c.plane.volumes["vol"].truth.sum), h.Checksum)
		}
	})
}

// A v1 engine restores into a volume with one snapshot beside the head at most. It purges, which does not end a user's.
func TestARestoreWantsAtMostOneSnapshot(t *testing.T) {
	target := "file://" + t.TempDir()
	c := newCluster(t, V1, Behaviour{})
	c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	c.write("vol", 1, "data")
	saved, err := c.plane.Save("vol", "saved", "b", target)
	require.NoError(t, err)
	ref := c.start(1, "restored-e-0", "restored", map[int]string{1: c.replica(1, "restored")}, "--frontend", "")
	_, err = c.servers[1].Snapshot(ref, "first", nil)
	require.NoError(t, err)
	require.NoError(t, c.servers[1].Restore(ref, saved.URL, "", ""))
	for _, name := range []string{"first", "second"} {
		_, err = c.servers[1].Snapshot(ref, name, nil)
		require.NoError(t, err)
	}
	for range 2 {
		require.ErrorContains(t, c.servers[1].Restore(ref, saved.URL, "", ""), "found more than 1 snapshot in the replicas")
		c.step(time.Second)
	}
	require.NoError(t, c.servers[1].SnapshotRemove(ref, []string{"first"}))
	require.Error(t, c.servers[1].Restore(ref, saved.URL, "", ""), "it is purged first")
	c.step(time.Second)
	require.ErrorContains(t, c.servers[1].Restore(ref, saved.URL, "", ""), "already restored")
}

// Why an engine does not begin a restore is text; where its replicas refuse, a v1 server has JSON.
func TestARefusedRestoreHasATextOfTheServer(t *testing.T) {
	engine := &TaskError{refusal: refuse(Unknown, "no backup")}
	require.Equal(t, "no backup", string(engine.Text()))
	require.Equal(t, "Unknown", CodeOf(engine), "the journal has the refusal")
	replica := &TaskError{refusal: refuse(Unknown, "in progress already"), replicas: []string{"10.0.0.1:10000"}}
	require.JSONEq(t, `{"ReplicaErrors":[{"Address":"tcp://10.0.0.1:10000","Message":"in progress already"}]}`, string(replica.Text()))
}

func TestAV1EngineListsAnErrorAloneForAReplicaThatItCannotAskAboutItsRestore(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Minute})
	c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	saved, err := c.plane.Save("vol", "saved", "b", "file://"+t.TempDir())
	require.NoError(t, err)
	far := c.replica(2, "restored")
	ref := c.start(1, "restored-e-0", "restored", map[int]string{1: c.replica(1, "restored"), 2: far}, "--frontend", "")
	require.NoError(t, c.servers[1].Restore(ref, saved.URL, "", ""))
	c.plane.SetCut("node-3", true)
	list, err := c.servers[1].RestoreStatus(ref)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, RestoreStatus{Progress: Progress{Error: "Failed to get restoring status on tcp://" + far + ": connection refused"}},
		list[far])
	c.plane.SetCut("node-3", false)
	list, err = c.servers[1].RestoreStatus(ref)
	require.NoError(t, err)
	require.True(t, list[far].Running, "it restores on")
}

func TestWhatWasSavedCanBeRestored(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		c.write("vol", 1, "before")
		sum := c.plane.Volumes("vol")[0].Checksum
		saved, err := c.plane.Save("vol", "saved", "b", "file://"+t.TempDir())
		require.NoError(t, err)
		c.write("vol", 1, "after")
		require.True(t, c.servers[0].instances["vol-r-0"].dataOf().Has("saved"))

		restored := c.start(1, "restored-e-0", "restored", map[int]string{1: c.replica(1, "restored")}, "--frontend", "")
		require.NoError(t, c.servers[1].Restore(restored, saved.URL, "", ""))
		require.Equal(t, sum, c.plane.Volumes("restored")[0].Checksum)
		saved, err = c.plane.Save("vol", "again", "", "")
		require.NoError(t, err)
		require.Equal(t, Saved{Snapshot: "again"}, saved)
	})
}

func TestAV1BackupWhoseTargetCannotBeReachedIsRefusedAndReported(t *testing.T) {
	for _, engine := range []string{V1, V2} {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		_, _, _, err := c.servers[0].Backup(ref, Order{Name: "b", Snapshot: "s", Target: "nfs://nowhere/backups"})
		require.Error(t, err, engine)
		status, _ := c.servers[0].BackupStatus(ref, "b", "")
		if engine == V2 {
			require.Empty(t, status.State)
			continue
		}
		require.Equal(t, JobFailed, status.State)
		require.NotEmpty(t, status.Error)
	}
}
