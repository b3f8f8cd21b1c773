package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSnapshotsByTheContractsTable(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		v1 := engine == V1
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
		s := c.servers[0]
		for _, name := range []string{"a", "b"} {
			c.write("vol", 1, "before "+name)
			_, err := s.Snapshot(ref, name, map[string]string{"key": "value"})
			require.NoError(t, err)
		}
		_, err := s.Snapshot(ref, "a", nil)
		require.ErrorContains(t, err, "already existing")
		require.Equal(t, "Unknown", CodeOf(err))
		list, err := s.Snapshots(ref)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "volume-head"}, diskNames(list))
		require.Equal(t, v1, list[0].Labels != nil, "v2 drops the labels")
		require.Equal(t, []string{"volume-head"}, list[1].Children)
		require.True(t, list[0].UserCreated)
		require.Equal(t, v1, s.SnapshotRemove(ref, []string{"nobody"}) == nil, "v1 is content with an unknown name")
		require.NoError(t, s.SnapshotRemove(ref, []string{"b"}))
		require.NoError(t, s.Purge(ref, false, ""))
		list, err = s.Snapshots(ref)
		require.NoError(t, err)
		if v1 {
			require.Equal(t, []string{"a", "-b", "volume-head"}, diskNames(list), "the head's parent stays until a newer snapshot exists")
			_, err = s.Snapshot(ref, "c", nil)
			require.NoError(t, err)
			require.NoError(t, s.Purge(ref, false, ""))
			list, err = s.Snapshots(ref)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "c", "volume-head"}, diskNames(list))
		} else {
			require.Equal(t, []string{"a", "volume-head"}, diskNames(list), "v2 removes at once")
		}
		status, err := s.PurgeStatus(ref)
		require.NoError(t, err)
		require.Equal(t, v1, len(status) == 2, "v2 never reports")
		c.healthy("vol")
	})
}

func TestTheLimitOfSnapshots(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		require.NoError(t, c.servers[0].Set(ref, "VolumeSnapshotMaxCountSet", func(e *EngineSettings) { e.SnapshotMaxCount = 1 }))
		_, err := c.servers[0].Snapshot(ref, "a", nil)
		require.NoError(t, err)
		_, err = c.servers[0].Snapshot(ref, "b", nil)
		require.ErrorContains(t, err, "too many snapshots")
	})
}

func TestARebuildTakesASystemSnapshotAndHoldsRemovalsBack(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{CopyTime: time.Second})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		c.write("vol", 1, "x")
		_, err := c.servers[0].beginRebuild(ref, Addition{Address: c.replica(1, "vol")})
		require.NoError(t, err)
		list, err := c.servers[0].Snapshots(ref)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.False(t, list[0].UserCreated)
		require.ErrorContains(t, c.servers[0].SnapshotRemove(ref, []string{list[0].Name}), "rebuilding")
		require.Equal(t, engine == V1, c.servers[0].Purge(ref, false, "") != nil, "v2 swallows it")
	})
}

// revertWithoutFrontend reverts a v2 volume of one replica by an engine without a frontend, and opens it again.
func (c *cluster) revertWithoutFrontend(volume, snapshot string) {
	c.t.Helper()
	c.close(0, volume+"-ef-0", TypeFrontend)
	c.close(0, volume+"-e-0", TypeEngine)
	where := address(c.servers[0].ip, c.servers[0].instances[volume+"-r-0"].PortStart)
	_, err := c.servers[0].Create(Spec{Name: volume + "-e-1", Type: TypeEngine, DataEngine: V2, Volume: volume, PortCount: 1, Size: 1 << 20,
		Replicas: map[string]string{volume + "-r-0": where}})
	require.NoError(c.t, err)
	ref := Ref{DataEngine: V2, Address: c.servers[0].ip + ":0", Name: volume + "-e-1", Volume: volume}
	require.NoError(c.t, c.servers[0].SnapshotRevert(ref, snapshot))
	c.close(0, volume+"-e-1", TypeEngine)
	c.open(0, volume+"-e-2", volume, map[int]string{0: where})
}

func TestARevertNeedsAV1VolumeWithoutFrontendAndGivesV2AnotherHead(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		c.write("vol", 1, "old")
		_, err := c.servers[0].Snapshot(ref, "s", nil)
		require.NoError(t, err)
		c.write("vol", 1, "new")
		before := c.servers[0].instances["vol-r-0"].UUID
		if engine == V1 {
			require.ErrorContains(t, c.servers[0].SnapshotRevert(ref, "s"), "frontend enabled")
			require.NoError(t, c.servers[0].FrontendShutdown(ref))
			require.NoError(t, c.servers[0].SnapshotRevert(ref, "s"))
			require.NoError(t, c.servers[0].FrontendStart(ref, "tgt-blockdev"))
		} else {
			require.ErrorContains(t, c.servers[0].SnapshotRevert(ref, "s"), "invalid frontend")
			c.revertWithoutFrontend("vol", "s")
		}
		text, _, err := c.plane.Read("vol", "", 1)
		require.NoError(t, err)
		require.Equal(t, "old", text)
		require.Equal(t, engine == V2, before != c.servers[0].instances["vol-r-0"].UUID)
		c.healthy("vol")
	})
}
