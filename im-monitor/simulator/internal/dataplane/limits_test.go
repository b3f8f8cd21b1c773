package dataplane

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// takes takes snapshots of these names.
func (c *cluster) takes(ref Ref, names ...string) {
	c.t.Helper()
	for _, name := range names {
		_, err := c.servers[0].Snapshot(ref, name, nil)
		require.NoError(c.t, err)
	}
}

func TestAtTheNumberOfSnapshotsNothingIsAdded(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		c.takes(ref, "a", "b")
		require.Error(t, c.servers[0].SetSnapshotMaxCount(ref, 1), "not below what there is")
		require.NoError(t, c.servers[0].SetSnapshotMaxCount(ref, 2))
		_, err := c.servers[0].Snapshot(ref, "c", nil)
		require.ErrorContains(t, err, "too many snapshots")
		added := c.replica(1, "vol")
		require.ErrorContains(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added}), "too many snapshots")
		require.NoError(t, c.servers[0].SetSnapshotMaxCount(ref, 3))
		require.NoError(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: added}))
		require.Equal(t, 3, c.servers[0].instances["vol-e-0"].run.use().Count, "the rebuild's own snapshot counts")
	})
}

func TestRemovedSnapshotsCountAmongTheDisksOnly(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	for i := range maxDisks - 1 {
		name := fmt.Sprintf("s%d", i)
		c.takes(ref, name)
		require.NoError(t, c.servers[0].SnapshotRemove(ref, []string{name}))
	}
	require.Equal(t, chain.Use{Disks: maxDisks}, c.servers[0].instances["vol-e-0"].run.use())
	_, err := c.servers[0].Snapshot(ref, "one more", nil)
	require.ErrorContains(t, err, "250 disks")
	require.NoError(t, c.servers[0].Purge(ref, false, ""))
	c.takes(ref, "one more")
}

func TestAV1HeadMustFitIntoTheSizeLimit(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")}, "--snapshot-max-size", "8192")
	c.write("vol", 1, "x")
	c.takes(ref, "a")
	c.write("vol", 1, "y")
	c.takes(ref, "b")
	c.write("vol", 1, "z")
	_, err := c.servers[0].Snapshot(ref, "c", nil)
	require.ErrorContains(t, err, "too large")
	require.ErrorContains(t, c.servers[0].ReplicaAdd(t.Context(), ref, Addition{Address: c.replica(1, "vol")}), "too large")
	require.Error(t, c.servers[0].SetSnapshotMaxSize(ref, 8192), "not below what there is")
	require.NoError(t, c.servers[0].SetSnapshotMaxSize(ref, 12288))
	c.takes(ref, "c")
}

func TestOfV2OnlyTheNumberIsLimited(t *testing.T) {
	c := newCluster(t, V2, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	for what, err := range map[string]error{
		"size": c.servers[0].SetSnapshotMaxSize(ref, 1), "unmap": c.servers[0].SetUnmapMark(ref, true),
		"rebuilds": c.servers[0].SetRebuildLimit(ref, 2),
	} {
		require.Equal(t, "Unimplemented", CodeOf(err), what)
	}
}

func TestAV1PurgeTakesSystemSnapshotsToo(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	c.takes(ref, "user")
	c.write("vol", 1, "x")
	_, err := c.servers[0].beginRebuild(ref, Addition{Address: c.replica(1, "vol")})
	require.NoError(t, err)
	require.ErrorContains(t, c.servers[0].Purge(ref, true, ""), "rebuilding")
	require.ErrorContains(t, c.servers[0].SnapshotRemove(ref, []string{"user"}), "rebuilding")
	c.step(2 * time.Second)
	require.NoError(t, c.servers[0].Purge(ref, false, ""))
	require.Error(t, c.servers[0].Purge(ref, false, ""))
	require.NoError(t, c.servers[0].Purge(ref, true, ""))
	require.Equal(t, 1, c.servers[0].instances["vol-e-0"].run.use().Count, "marked at once, although no one removed it")
	c.step(2 * time.Second)
	list, err := c.servers[0].Snapshots(ref)
	require.NoError(t, err)
	require.Len(t, list, 3, "next to the head it stays until there is a newer one")
	c.takes(ref, "newer")
	require.NoError(t, c.servers[0].Purge(ref, false, ""))
	c.step(2 * time.Second)
	list, err = c.servers[0].Snapshots(ref)
	require.NoError(t, err)
	require.Len(t, list, 3, "the head and the two of the user")
	c.healthy("vol")
}

func TestAnExpansionAtALimitIsSilent(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: time.Second})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	c.takes(ref, "a")
	require.NoError(t, c.servers[0].SetSnapshotMaxCount(ref, 1))
	require.NoError(t, c.servers[0].Expand(ref, 2<<20, ""))
	c.step(2 * time.Second)
	e, err := c.servers[0].Engine(ref)
	require.NoError(t, err)
	require.Equal(t, Expansion{}, e.Expansion)
	require.EqualValues(t, 1<<20, e.Size)
	require.EqualValues(t, 1<<20, c.servers[0].instances["vol-r-0"].Size)
	require.NoError(t, c.servers[0].SetSnapshotMaxCount(ref, 2))
	require.NoError(t, c.servers[0].Expand(ref, 2<<20, ""))
	c.step(2 * time.Second)
	require.EqualValues(t, 2<<20, c.servers[0].instances["vol-e-0"].run.size)
}

func TestAnExpansionOfTheFrontendFailsSilentlyAfterTheReplicasHaveGrown(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	require.NoError(t, c.servers[0].Expand(ref, 2<<20, "the frontend does not grow"))
	e, err := c.servers[0].Engine(ref)
	require.NoError(t, err)
	require.Equal(t, Expansion{}, e.Expansion)
	require.EqualValues(t, 1<<20, e.Size)
	require.EqualValues(t, 2<<20, c.servers[0].instances["vol-r-0"].Size)
}

func TestAnExpansionThatLosesAReplicaHasSucceededAndHasAnError(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
	require.NoError(t, c.servers[0].Expand(ref, 2<<20, "replica vol-r-0 does not grow"))
	e, err := c.servers[0].Engine(ref)
	require.NoError(t, err)
	require.Equal(t, "replica vol-r-0 does not grow", e.Expansion.LastError)
	require.EqualValues(t, 2<<20, e.Size)
	require.Equal(t, map[string]string{"vol-r-0": ModeERR, "vol-r-1": ModeRW}, e.Modes)
}

func TestAnExpansionWhoseStartIsRefusedLeavesAnError(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	require.Error(t, c.servers[0].Expand(ref, 1, ""))
	e, err := c.servers[0].Engine(ref)
	require.NoError(t, err)
	require.NotEmpty(t, e.Expansion.LastError)
}

func TestAV1LinkThatIsCutIsNoticedWithTheNextIO(t *testing.T) {
	c := newCluster(t, V1, Behaviour{ReplicaTimeout: time.Second})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
	c.plane.SetCut("node-2", true)
	c.step(time.Hour)
	require.Equal(t, ModeRW, c.mode(ref, "vol-r-1"), "nothing failed yet")
	_, err := c.plane.Write("vol", "", 1, "x")
	require.Equal(t, "Unavailable", CodeOf(err))
	c.step(2 * time.Second)
	require.Equal(t, ModeERR, c.mode(ref, "vol-r-1"))
	c.write("vol", 1, "x")
	c.healthy("vol")
}
