package dataplane

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// require's own interface, so that a rapid.T serves, too.
type tester interface {
	require.TestingT
	Helper()
}

// cluster is three nodes with a server of one data engine each.
type cluster struct {
	*fixture
	t       tester
	engine  string
	servers []*Server
	// uncounted starts v1 replicas without the revision counter, as their engines must be, too.
	uncounted bool
}

func newCluster(t tester, engine string, b Behaviour) *cluster {
	c := &cluster{fixture: newFixture(b), t: t, engine: engine}
	for n := 1; n <= 3; n++ {
		c.servers = append(c.servers, nil)
		c.boot(n - 1)
		c.plane.EnsureDisk(c.servers[n-1].node.name, "disk-1", "/dev/sdb", 1<<40)
	}
	return c
}

// boot starts a node's server, again if it ran.
func (c *cluster) boot(n int) {
	c.servers[n] = c.plane.Start(fmt.Sprintf("node-%d", n+1), fmt.Sprintf("im-%s-%d", c.engine, n+1), c.engine,
		fmt.Sprintf("127.1.1.%d", n+1), MetadataPath)
}

// replica starts the replica of a volume on a node and answers where it listens.
func (c *cluster) replica(n int, volume string) string {
	c.t.Helper()
	spec := Spec{Name: fmt.Sprintf("%s-r-%d", volume, n), Type: TypeReplica, DataEngine: c.engine, Volume: volume, PortCount: 10,
		DiskName: "disk-1", Size: 1 << 20}
	if c.engine == V2 {
		spec = onDisk(spec, c.plane.EnsureDisk(c.servers[n].node.name, "disk-1", "/dev/sdb", 1<<40))
	} else {
		spec.Binary, spec.Args = "longhorn", []string{"--volume-name", volume, "replica", "/host/replicas/" + spec.Name, "--size",
			"1048576"}
		if c.uncounted {
			spec.Args = append(spec.Args, "--disableRevCounter")
		}
	}
	made, err := c.servers[n].Create(spec)
	require.NoError(c.t, err)
	return address(c.servers[n].ip, made.PortStart)
}

// again starts the process of a v1 replica again, which closes it.
func (c *cluster) again(n int, volume string) string {
	c.t.Helper()
	c.close(n, fmt.Sprintf("%s-r-%d", volume, n), TypeReplica)
	return c.replica(n, volume)
}

// second starts another process over the directory of a v1 replica, as a migration does.
func (c *cluster) second(n int, volume string) string {
	c.t.Helper()
	first := c.servers[n].instances[fmt.Sprintf("%s-r-%d", volume, n)].Spec
	first.Name += "-second"
	made, err := c.servers[n].Create(first)
	require.NoError(c.t, err)
	return address(c.servers[n].ip, made.PortStart)
}

// open starts an engine over replicas, each a node's, and a frontend on its node.
func (c *cluster) open(n int, name, volume string, replicas map[int]string, extra ...string) Ref {
	c.t.Helper()
	ref := c.start(n, name, volume, replicas, extra...)
	if c.engine == V2 {
		_, err := c.servers[n].Create(Spec{Name: volume + "-ef-0", Type: TypeFrontend, DataEngine: V2, Volume: volume, PortCount: 1,
			EngineName:    name,
			TargetAddress: ref.Address, Frontend: FrontendBlockDevice})
		require.NoError(c.t, err)
		ref.Frontend = volume + "-ef-0"
	}
	return ref
}

// start starts an engine without a v2 frontend.
func (c *cluster) start(n int, name, volume string, replicas map[int]string, extra ...string) Ref {
	c.t.Helper()
	spec := Spec{Name: name, Type: TypeEngine, DataEngine: c.engine, Volume: volume, PortCount: 1, Size: 1 << 20,
		Frontend: FrontendBlockDevice}
	if c.engine == V1 {
		spec.Binary = "longhorn"
		spec.Args = append([]string{"--engine-instance-name", name, "controller", volume, "--size", "1048576", "--current-size", "1048576",
			"--rebuild-sync-concurrent-limit", "1", "--snapshot-max-count", "250"}, extra...)
		if !arguments(extra).has("--frontend") {
			spec.Args = append(spec.Args, "--frontend", "tgt-blockdev")
		}
	}
	spec.Replicas = map[string]string{}
	for node, where := range replicas {
		spec.Replicas[fmt.Sprintf("%s-r-%d", volume, node)] = where
		spec.Args = append(spec.Args, "--replica", "tcp://"+where)
	}
	if c.engine == V1 {
		spec.Replicas = nil
	}
	made, err := c.servers[n].Create(spec)
	require.NoError(c.t, err)
	require.NotEqual(c.t, Failed, made.State, made.ErrorMsg)
	return Ref{DataEngine: c.engine, Address: address(c.servers[n].ip, made.PortStart), Name: name, Volume: volume}
}

// close deletes an instance at once.
func (c *cluster) close(n int, name, typ string) {
	c.t.Helper()
	_, err := c.servers[n].Delete(Deletion{Name: name, Type: typ, DataEngine: c.engine, Cleanup: typ != TypeReplica})
	require.NoError(c.t, err)
}

func (c *cluster) write(volume string, block int64, text string) {
	c.t.Helper()
	_, err := c.plane.Write(volume, "", block, text)
	require.NoError(c.t, err)
}

// wrongs are the bad effects in the journal.
func (c *cluster) wrongs() []string {
	var out []string
	for _, e := range c.plane.journal {
		switch e.Effect {
		case EffectMixedReplicas, EffectStaleOpen, EffectTwoWriters, EffectNewVolume, EffectIslandLost, EffectTwoEngines, EffectTwoTargets,
			EffectWrongEngine:
			out = append(out, e.Effect)
		}
	}
	return out
}

func (c *cluster) healthy(volume string) {
	c.t.Helper()
	v, err := c.plane.Verify(volume)
	require.NoError(c.t, err)
	require.True(c.t, v.OK, "%+v", v)
	require.Empty(c.t, c.wrongs())
}

func both(t *testing.T, f func(*testing.T, string)) {
	for _, engine := range []string{V1, V2} {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}

func TestAWriteGoesToEveryReplicaThatAnswers(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
		c.write("vol", 1, "one")
		c.servers[1].Stop()
		c.write("vol", 1, "two")
		text, written, err := c.plane.Read("vol", "", 1)
		require.NoError(t, err)
		require.True(t, written)
		require.Equal(t, "two", text)
		e, err := c.servers[0].Engine(ref)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeERR}, e.Modes)
		stale := map[string]bool{}
		for _, r := range c.plane.Volumes("vol")[0].Replicas {
			stale[r.Name] = r.Stale
		}
		require.Equal(t, map[string]bool{"vol-r-0": false, "vol-r-1": true}, stale)
		c.healthy("vol")
	})
}

func TestIOWaitsForAReplicaInDoubt(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{ReplicaTimeout: 2 * time.Second})
		c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
		c.plane.SetCut("node-2", true)
		_, err := c.plane.Write("vol", "", 1, "x")
		require.Equal(t, "Unavailable", CodeOf(err))
		c.step(2 * time.Second)
		c.write("vol", 1, "x")
		c.healthy("vol")
	})
}

func TestAnEngineWithoutAUsableReplica(t *testing.T) {
	for engine, state := range map[string]string{V1: Running, V2: Failed} {
		t.Run(engine, func(t *testing.T) {
			c := newCluster(t, engine, Behaviour{})
			c.open(0, "vol-e-0", "vol", map[int]string{1: c.replica(1, "vol")})
			c.servers[1].Stop()
			require.Equal(t, state, c.servers[0].instances["vol-e-0"].State)
			_, err := c.plane.Write("vol", "", 1, "x")
			require.Error(t, err)
		})
	}
}

func TestStaleReplicasAreDetected(t *testing.T) {
	for _, test := range []struct {
		name, engine string
		extra        []string
		over         []int
		modes        map[string]string
		wrongs       []string
	}{
		{name: "v1 leaves a stale replica out by its revision counter", engine: V1, over: []int{0, 1},
			modes: map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeERR}},
		{name: "v1 without the counter reads both", engine: V1, extra: []string{"--disableRevCounter"}, over: []int{0, 1},
			modes: map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeRW}, wrongs: []string{EffectMixedReplicas}},
		{name: "v1 keeps the best one when it is salvaged", engine: V1, extra: []string{"--disableRevCounter", "--salvageRequested"},
			over:  []int{0, 1},
			modes: map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeERR}},
		{name: "v2 reads both", engine: V2, over: []int{0, 1}, modes: map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeRW},
			wrongs: []string{EffectMixedReplicas}},
		{name: "a v1 volume that lacks acknowledged writes", engine: V1, over: []int{1}, modes: map[string]string{"vol-r-1": ModeRW},
			wrongs: []string{EffectStaleOpen}},
		{name: "a v2 volume that lacks acknowledged writes", engine: V2, over: []int{1}, modes: map[string]string{"vol-r-1": ModeRW},
			wrongs: []string{EffectStaleOpen}},
		{name: "the fresh replica alone", engine: V2, over: []int{0}, modes: map[string]string{"vol-r-0": ModeRW}},
		{name: "an empty replica of a volume that was written to", engine: V2, over: []int{2}, modes: map[string]string{"vol-r-2": ModeRW},
			wrongs: []string{EffectNewVolume}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, test.engine, Behaviour{})
			c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
			c.write("vol", 1, "seen by both")
			c.servers[1].Stop()
			c.write("vol", 1, "seen by one")
			c.boot(1)
			c.close(0, "vol-e-0", TypeEngine)
			c.close(0, "vol-r-0", TypeReplica)
			over := map[int]string{}
			c.uncounted = arguments(test.extra).has("--disableRevCounter")
			for _, n := range test.over {
				over[n] = c.replica(n, "vol")
			}
			ref := c.start(0, "vol-e-1", "vol", over, test.extra...)
			e, err := c.servers[0].Engine(ref)
			require.NoError(t, err)
			require.Equal(t, test.modes, e.Modes)
			require.Equal(t, test.wrongs, c.wrongs())
		})
	}
}

func TestASecondWriterIsToldUnlessTheVolumeWasHandedOver(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	where := map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")}
	c.open(0, "vol-e-0", "vol", where)
	_, err := c.plane.Write("vol", "node-1", 1, "source")
	require.NoError(t, err)
	c.open(1, "vol-e-1", "vol", map[int]string{0: c.second(0, "vol"), 1: c.second(1, "vol")})
	_, err = c.plane.Write("vol", "node-1", 1, "source, still")
	require.NoError(t, err)
	_, err = c.plane.Write("vol", "node-2", 1, "target")
	require.NoError(t, err)
	require.Equal(t, []string{EffectTwoEngines}, c.wrongs(), "a migration passes once")
	for range 2 {
		_, err = c.plane.Write("vol", "node-1", 1, "source, again")
		require.NoError(t, err)
	}
	require.Equal(t, []string{EffectTwoEngines, EffectTwoWriters}, c.wrongs(), "reported once")
}

func TestWritesOfANodeThatWasCutOffMayBeLeftBehind(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
		c.write("vol", 1, "seen by both")
		c.plane.SetCut("node-1", true)
		_, err := c.plane.Write("vol", "node-1", 1, "on the island")
		require.NoError(t, err)
		where := address("127.1.1.2", c.servers[1].instances["vol-r-1"].PortStart)
		if engine == V1 { // the engine that was cut off never closed it
			where = c.again(1, "vol")
		}
		c.start(1, "vol-e-1", "vol", map[int]string{1: where})
		require.Equal(t, []string{EffectTwoEngines, EffectIslandLost}, c.wrongs())
		_, err = c.plane.Write("vol", "node-1", 2, "on the island, still")
		require.NoError(t, err)
		v, err := c.plane.Verify("vol")
		require.NoError(t, err)
		require.True(t, v.OK, "what the island writes counts no more: %+v", v)
	})
}

func TestAnIslandThatIsJoinedAgainKeepsItsWrites(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")})
	c.plane.SetCut("node-1", true)
	c.write("vol", 1, "on the island")
	c.plane.SetCut("node-1", false)
	c.write("vol", 2, "on the mainland")
	c.close(0, "vol-e-0", TypeEngine)
	c.open(1, "vol-e-1", "vol", map[int]string{1: c.again(1, "vol")})
	require.Equal(t, []string{EffectNewVolume}, c.wrongs(), "the other replica never saw a write")
}

func TestAV1ReplicaWithAnUnfinishedRebuildIsNotRead(t *testing.T) {
	c := newCluster(t, V1, Behaviour{CopyTime: Held})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	c.write("vol", 1, "x")
	added := c.replica(1, "vol")
	_, err := c.servers[0].beginRebuild(ref, Addition{Address: added})
	require.NoError(t, err)
	c.close(0, "vol-e-0", TypeEngine)
	ref = c.open(0, "vol-e-1", "vol", map[int]string{0: address("127.1.1.1", c.servers[0].instances["vol-r-0"].PortStart), 1: added})
	e, err := c.servers[0].Engine(ref)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"vol-r-0": ModeRW, "vol-r-1": ModeERR}, e.Modes)
	c.healthy("vol")
}

func TestOneReplicaIsRebuiltAtATime(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{CopyTime: time.Second})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		first, second := c.replica(1, "vol"), c.replica(2, "vol")
		_, err := c.servers[0].beginRebuild(ref, Addition{Address: first})
		require.NoError(t, err)
		_, err = c.servers[0].beginRebuild(ref, Addition{Address: second})
		require.ErrorContains(t, err, "one WO replica")
		c.step(500 * time.Millisecond)
		list, err := c.servers[0].Rebuilds(ref)
		require.NoError(t, err)
		percent := map[string]int32{V1: 30, V2: 50}[engine] // v1 prepares the copy for a fifth of its time
		require.Equal(t, []RebuildStatus{{Progress: Progress{Running: true, Percent: percent, State: JobRunning}, Address: first,
			From: list[0].From}}, list)
		c.step(time.Second)
		require.NoError(t, c.servers[0].VerifyRebuild(ref, "", first))
		require.NoError(t, c.servers[0].ReplicaRemove(ref, "vol-r-1", first))
		require.Equal(t, engine == V2, c.servers[0].ReplicaRemove(ref, "vol-r-1", first) != nil, "v1 is content with an unknown replica")
	})
}

func TestARebuildThatFailsLeavesTheReplicaInERR(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	err := c.servers[0].ReplicaAdd(context.Background(), ref, Addition{Address: c.replica(1, "vol"), Fails: "the disk is full"})
	require.ErrorContains(t, err, "the disk is full")
	e, err := c.servers[0].Engine(ref)
	require.NoError(t, err)
	require.Equal(t, ModeERR, e.Modes["vol-r-1"])
}

func TestAnExpansionMayFailAfterwards(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{CopyTime: time.Second})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		require.NoError(t, c.servers[0].Expand(ref, 2<<20, "no space left"))
		c.step(2 * time.Second)
		e, err := c.servers[0].Engine(ref)
		require.NoError(t, err)
		require.Empty(t, e.Expansion.LastError, "silently")
		require.Equal(t, uint64(1<<20), e.Size)
		require.NoError(t, c.servers[0].Expand(ref, 2<<20, ""))
		e, err = c.servers[0].Engine(ref)
		require.NoError(t, err)
		require.True(t, e.Expansion.Running)
		c.step(2 * time.Second)
		e, err = c.servers[0].Engine(ref)
		require.NoError(t, err)
		require.Equal(t, uint64(2<<20), e.Size)
		require.Error(t, c.servers[0].Expand(ref, 1<<20, ""), "a volume never shrinks")
	})
}

func TestAWrongNameIsNoneOfThisEngine(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{})
		ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		ref.Volume = "other"
		_, err := c.servers[0].Engine(ref)
		require.Equal(t, "FailedPrecondition", CodeOf(err))
		ref.Volume, ref.Address, ref.Name = "vol", "127.1.1.1:1", "vol-e-9"
		_, err = c.servers[0].Engine(ref)
		require.Equal(t, "Unavailable", CodeOf(err))
	})
}

func TestAV2CallThroughAFrontendNeedsItsName(t *testing.T) {
	c := newCluster(t, V2, Behaviour{})
	ref := c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	ref.Frontend = ""
	_, err := c.servers[0].Snapshot(ref, "s", nil)
	require.Equal(t, "InvalidArgument", CodeOf(err))
	_, err = c.servers[0].Snapshots(ref)
	require.NoError(t, err, "lists are asked of the engine")
}

// diskNames are the names in a list, removed ones with a minus.
func diskNames(list []chain.Disk) []string {
	var out []string
	for _, d := range list {
		if d.Removed {
			d.Name = "-" + d.Name
		}
		out = append(out, d.Name)
	}
	return out
}
