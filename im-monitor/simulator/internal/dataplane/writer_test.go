package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writerOf is the volume's only writer.
func (c *cluster) writerOf() Writer { return c.plane.Writers()[0] }

// flawless reports that a writer lost nothing.
func flawless(t *testing.T, w Writer) {
	t.Helper()
	require.Zero(t, w.Failed+w.Lost+w.Doubled+w.Misdirected, w.Errors)
}

func TestAWriterSeesNothingOfASwitchOverThereAndBack(t *testing.T) {
	c := newCluster(t, V2, Behaviour{})
	where := map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")}
	ref := c.open(0, "vol-e-0", "vol", where)
	require.NoError(t, c.plane.StartWriter(Writer{Volume: "vol", Interval: 10 * time.Millisecond}))
	c.step(time.Second)
	for _, move := range []struct {
		node int
		name string
	}{{1, "vol-e-1"}, {0, "vol-e-2"}} {
		next := c.start(move.node, move.name, "vol", where)
		for _, phase := range []string{"preparing", "switching", "promoting"} {
			require.NoError(t, c.servers[0].SwitchOver(V2, "vol-ef-0", TypeFrontend, Target{Engine: move.name, Address: next.Address},
				phase))
			c.step(15 * time.Millisecond)
		}
		c.close(1-move.node, ref.Name, TypeEngine)
		ref = next
		c.step(time.Second)
		require.Equal(t, move.name, c.plane.Volumes("vol")[0].Devices[0].Engine)
		c.boot(2)
	}
	w := c.writerOf()
	flawless(t, w)
	require.Greater(t, w.Writes, uint64(190))
	require.LessOrEqual(t, w.MaxPause, 10*time.Millisecond)
	require.Equal(t, []string{EffectTwoEngines, EffectTwoEngines}, c.wrongs(), "a switch-over runs two")
}

func TestAV2BlockDeviceOutlivesItsServer(t *testing.T) {
	c := newCluster(t, V2, Behaviour{StartTime: 10 * time.Millisecond})
	c.replica(1, "vol")
	where := map[int]string{1: address("127.1.1.2", c.servers[1].instances["vol-r-1"].PortStart)}
	c.step(time.Second)
	next := c.start(1, "vol-e-0", "vol", where)
	c.step(time.Second)
	_, err := c.servers[0].Create(Spec{Name: "vol-ef-0", Type: TypeFrontend, DataEngine: V2, Volume: "vol", PortCount: 1,
		EngineName:    "vol-e-0",
		TargetAddress: next.Address, Frontend: FrontendBlockDevice})
	require.NoError(t, err)
	c.step(time.Second)
	require.NoError(t, c.plane.StartWriter(Writer{Volume: "vol", Interval: 10 * time.Millisecond}))
	c.step(time.Second)
	c.servers[0].Stop()
	c.step(time.Second)
	c.boot(0)
	c.step(time.Second)
	w := c.writerOf()
	flawless(t, w)
	require.LessOrEqual(t, w.MaxPause, 10*time.Millisecond)
	c.plane.Reboot("node-1")
	require.Empty(t, c.plane.Volumes("vol")[0].Devices, "a reboot ends it")
}

func TestAWriterMeasuresItsLongestPause(t *testing.T) {
	c := newCluster(t, V2, Behaviour{})
	c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	require.NoError(t, c.plane.StartWriter(Writer{Volume: "vol", Interval: 10 * time.Millisecond}))
	c.step(100 * time.Millisecond)
	require.NoError(t, c.servers[0].Suspend(V2, "vol-ef-0", TypeFrontend))
	c.step(time.Second)
	require.GreaterOrEqual(t, c.writerOf().MaxPause, 990*time.Millisecond, "also while it continues")
	require.NoError(t, c.servers[0].Resume(V2, "vol-ef-0", TypeFrontend))
	c.step(100 * time.Millisecond)
	w := c.writerOf()
	require.InDelta(t, time.Second, w.MaxPause, float64(15*time.Millisecond))
	require.Positive(t, w.Waited)
	flawless(t, w)
}

func TestAWriterFindsWhatIsLost(t *testing.T) {
	c := newCluster(t, V1, Behaviour{})
	c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
	require.NoError(t, c.plane.StartWriter(Writer{Volume: "vol", Interval: 10 * time.Millisecond, Blocks: 3}))
	c.step(time.Second)
	d := c.servers[0].instances["vol-r-0"].dataOf()
	d.Write(0, "vol//0/1", 1)
	d.Write(1, "vol//0/90", 1)
	d.Write(2, "vol//2/90000", 1)
	c.step(time.Second)
	w := c.writerOf()
	require.Equal(t, []uint64{1, 1, 1}, []uint64{w.Lost, w.Misdirected, w.Doubled}, w.Errors)
	require.Len(t, c.plane.StopWriters("", ""), 1)
	require.Empty(t, c.plane.Writers())
}

func TestVolumesHaveWritersWhenThePlaneIsToldSo(t *testing.T) {
	both(t, func(t *testing.T, engine string) {
		c := newCluster(t, engine, Behaviour{Writers: true})
		c.open(0, "vol-e-0", "vol", map[int]string{0: c.replica(0, "vol")})
		c.step(time.Second)
		require.Positive(t, c.writerOf().Writes)
		c.healthy("vol")
	})
}
