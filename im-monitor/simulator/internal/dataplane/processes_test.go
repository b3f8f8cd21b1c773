package dataplane

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// refused starts an engine that must end at once, and returns why it ended.
func (c *cluster) refused(n int, name, volume string, replicas ...string) string {
	c.t.Helper()
	spec := Spec{Name: name, Type: TypeEngine, DataEngine: V1, Volume: volume, PortCount: 1, Binary: "longhorn",
		Args: []string{"--engine-instance-name", name, "controller", volume, "--size", "1048576", "--current-size", "1048576",
			"--rebuild-sync-concurrent-limit", "1", "--snapshot-max-count", "250"}}
	for _, where := range replicas {
		spec.Args = append(spec.Args, "--replica", "tcp://"+where)
	}
	made, err := c.servers[n].Create(spec)
	require.NoError(c.t, err)
	require.Equal(c.t, Failed, made.State)
	c.close(n, name, TypeEngine)
	return made.ErrorMsg
}

// modesOf are the modes of an engine's replicas by name.
func (c *cluster) modesOf(n int, ref Ref) map[string]string {
	c.t.Helper()
	e, err := c.servers[n].Engine(ref)
	require.NoError(c.t, err)
	return e.Modes
}

func TestAReplicaProcessServesOneEngine(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	where := c.replica(0, "vol")
	first := c.open(0, "vol-e-0", "vol", map[int]string{0: where})
	c.write("vol", 1, "x")
	require.Contains(t, c.refused(1, "vol-e-1", "vol", where), "exit status 61")
	require.Equal(t, map[string]string{"vol-r-0": ModeRW}, c.modesOf(0, first))
	c.write("vol", 2, "y")
	c.healthy("vol")
}

func TestAnEngineLeavesOutTheReplicasThatAnotherEngineHasOpen(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	where := c.replica(0, "vol")
	c.start(0, "vol-e-0", "vol", map[int]string{0: where}, "--frontend", "")
	second := c.start(1, "vol-e-1", "vol", map[int]string{0: where, 1: c.replica(1, "vol")}, "--frontend", "")
	require.Equal(t, map[string]string{"vol-r-0": ModeERR, "vol-r-1": ModeRW}, c.modesOf(1, second))
}

func TestAReplicaThatAnotherEngineHasOpenIsNotAdded(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	where := c.replica(1, "vol")
	c.start(1, "vol-e-1", "vol", map[int]string{1: where}, "--frontend", "")
	first := c.start(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")}, "--frontend", "")
	_, err := c.servers[0].beginRebuild(first, Addition{Address: where})
	require.ErrorContains(t, err, "replica must be closed, cannot add in state: open")
	other := Ref{DataEngine: V1, Address: address("127.1.1.2", c.servers[1].instances["vol-e-1"].PortStart), Name: "vol-e-1", Volume: "vol"}
	require.NoError(t, c.servers[0].ReplicaRemove(other, "vol-r-1", where))
	_, err = c.servers[0].beginRebuild(first, Addition{Address: where})
	require.NoError(t, err, "a replica that was removed is closed")
}

func TestASecondProcessOverTheSameDirectoryServesASecondEngine(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	c.write("vol", 1, "before")
	c.start(1, "vol-e-1", "vol", map[int]string{0: c.second(0, "vol")})
	_, err := c.plane.Write("vol", "node-1", 2, "meanwhile")
	require.NoError(t, err)
	c.close(0, "vol-e-0", TypeEngine)
	text, _, err := c.plane.Read("vol", "node-2", 2)
	require.NoError(t, err)
	require.Equal(t, "meanwhile", text)
}

// An engine that was asked to end has closed its replicas; every other end leaves them open until their processes start again.
func TestWhatAnEngineLeavesOpen(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*cluster)
		open bool
	}{
		"it was deleted": {func(c *cluster) { c.close(0, "vol-e-0", TypeEngine) }, false},
		"it died": {func(c *cluster) {
			dead := Failed
			_, err := c.plane.Change("node-1", "vol-e-0", Change{State: &dead})
			require.NoError(c.t, err)
		}, true},
		"its instance manager died": {func(c *cluster) { c.boot(0) }, true},
		"it was deleted while it was cut off": {func(c *cluster) {
			c.plane.SetCut("node-1", true)
			c.close(0, "vol-e-0", TypeEngine)
			c.plane.SetCut("node-1", false)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, V1, Behaviour{})
			where := c.replica(1, "vol")
			c.open(0, "vol-e-0", "vol", map[int]string{1: where})
			c.write("vol", 1, "x")
			test.end(c)
			if test.open {
				require.Contains(t, c.refused(2, "vol-e-1", "vol", where), "exit status 61")
				where = c.again(1, "vol")
			}
			c.open(2, "vol-e-1", "vol", map[int]string{1: where})
			text, _, err := c.plane.Read("vol", "", 1)
			require.NoError(t, err)
			require.Equal(t, "x", text)
		})
	}
}

func TestAnEngineWhoseStartFailsLeavesItsReplicasOpen(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	where := c.replica(0, "vol")
	c.plane.nodes["node-1"].directories["/host/replicas/vol-r-0"].size = 2 << 20
	require.Contains(t, c.refused(0, "vol-e-0", "vol", where), "exit status 61")
	c.plane.nodes["node-1"].directories["/host/replicas/vol-r-0"].size = 1 << 20
	require.Contains(t, c.refused(0, "vol-e-0", "vol", where), "exit status 61", "the first try has opened it")
	c.start(0, "vol-e-0", "vol", map[int]string{0: c.again(0, "vol")})
}
