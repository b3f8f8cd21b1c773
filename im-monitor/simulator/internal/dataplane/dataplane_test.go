package dataplane

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
)

// fixture is a plane with fake time and counted UUIDs.
type fixture struct {
	plane *Plane
	clock *manualClock
}

func newFixture(b Behaviour) *fixture {
	clock, n := &manualClock{now: time.Unix(1_800_000_000, 0)}, 0
	return &fixture{clock: clock, plane: New(clock, func() string { n++; return fmt.Sprintf("uuid-%d", n) }, b)}
}

func (f *fixture) start(engine string) *Server {
	return f.plane.Start("node-1", "im-"+engine, engine, "127.1.1.1", MetadataPath)
}

// step lets time pass: what is due happens in its order, each at its own time.
func (f *fixture) step(d time.Duration) {
	c := f.clock
	for end := c.now.Add(d); ; {
		next := slices.IndexFunc(c.due, func(e event) bool { return !e.at.After(end) })
		if next < 0 {
			c.now = end
			return
		}
		e := c.due[next]
		c.due = slices.Delete(c.due, next, next+1)
		c.now = e.at
		e.do()
	}
}

// manualClock runs what is due when the test lets time pass, on the test's own goroutine.
type manualClock struct {
	now time.Time
	due []event // by time
}

type event struct {
	at time.Time
	do func()
}

func (c *manualClock) Now() time.Time { return c.now }

func (c *manualClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.due = append(c.due, event{at: c.now.Add(d), do: f})
	slices.SortStableFunc(c.due, func(a, b event) int { return a.at.Compare(b.at) })
	return nil
}

func v1Replica(name string) Spec {
	return Spec{Name: name, Type: TypeReplica, DataEngine: V1, Volume: "vol", PortCount: 10, Binary: "longhorn", Args: []string{"replica"}}
}

func v2Replica(name string) Spec {
	return Spec{Name: name, Type: TypeReplica, DataEngine: V2, Volume: "vol", PortCount: 5, DiskName: "disk-1", Size: 1 << 30}
}

// put makes a running v2 engine over no particular replicas.
func (f *fixture) putEngine(t *testing.T, s *Server, name string) Instance {
	t.Helper()
	made, err := s.Put(Spec{Name: name, Type: TypeEngine, DataEngine: V2, Volume: "vol", Frontend: FrontendBlockDevice}, Running, "")
	require.NoError(t, err)
	return made
}

func (f *fixture) putReplica(t *testing.T, s *Server, name, state string) Instance {
	t.Helper()
	made, err := s.Put(v2Replica(name), state, "")
	require.NoError(t, err)
	return made
}

func listed(t *testing.T, s *Server) map[string]string {
	t.Helper()
	list, err := s.List()
	require.NoError(t, err)
	out := map[string]string{}
	for name, i := range list {
		out[name] = i.State
	}
	return out
}

func TestAV1ReplicaStartsAndThenRuns(t *testing.T) {
	f := newFixture(Behaviour{StartTime: time.Second})
	s := f.start(V1)
	made, err := s.Create(v1Replica("vol-r-1"))
	require.NoError(t, err)
	require.Equal(t, Starting, made.State)
	f.step(time.Second)
	reported, err := s.Get(V1, "vol-r-1")
	require.NoError(t, err)
	require.Equal(t, Running, reported.State)
	require.Empty(t, reported.Volume, "v1 servers do not echo the volume")
	require.Equal(t, int32(10000), reported.PortStart)
	require.Equal(t, int32(10009), reported.PortEnd)
}

func TestTheTypeOfAV1InstanceIsGuessedFromItsName(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V1)
	spec := v1Replica("vol-e-0")
	made, err := s.Create(spec)
	require.NoError(t, err)
	require.Equal(t, TypeEngine, s.Report(made).Type)
}

func TestCreatingWhatExistsIsRefused(t *testing.T) {
	f := newFixture(Behaviour{})
	for _, engine := range []string{V1, V2} {
		s := f.start(engine)
		spec := v1Replica("r")
		if engine == V2 {
			spec = onDisk(v2Replica("r"), f.plane.EnsureDisk("node-1", "disk-1", "/dev/sdb", 1<<40))
		}
		_, err := s.Create(spec)
		require.NoError(t, err)
		_, err = s.Create(spec)
		require.Equal(t, "AlreadyExists", CodeOf(err), engine)
	}
}

func TestACreateThatFailsInsideIsOKWithStateError(t *testing.T) {
	f := newFixture(Behaviour{})
	engine := Spec{Name: "vol-e-0", DataEngine: V1, Binary: "longhorn",
		Args: []string{"controller", "vol", "--size", "1", "--current-size", "1",
			"--rebuild-sync-concurrent-limit", "1", "--replica", "tcp://127.9.9.9:10000"}}
	made, err := f.start(V1).Create(engine)
	require.NoError(t, err)
	require.Equal(t, Failed, made.State)
	require.Contains(t, made.ErrorMsg, "exit status 1", "no one answers: worth a new try")
	s := f.start(V2)
	disk := f.plane.EnsureDisk("node-1", "disk-1", "/dev/sdb", 1<<40)
	made, err = s.Create(onDisk(v2Replica("r"), Disk{Name: "another", UUID: disk.UUID}))
	require.NoError(t, err)
	require.Equal(t, Failed, made.State, "the disk is another one")
	require.NotEmpty(t, made.ErrorMsg)
}

func TestAV1EngineRunsOverAReplicaThatListens(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V1)
	r, err := s.Create(v1Replica("vol-r-1"))
	require.NoError(t, err)
	where := address("127.1.1.1", r.PortStart)
	_, err = s.Create(Spec{Name: "vol-e-0", DataEngine: V1, Binary: "longhorn",
		Args: []string{"controller", "vol", "--size", "1", "--current-size", "1",
			"--rebuild-sync-concurrent-limit", "1", "--replica", "tcp://" + where}})
	require.NoError(t, err)
	e, err := s.Get(V1, "vol-e-0")
	require.NoError(t, err)
	require.Equal(t, Running, e.State)
	engine, err := s.Engine(Ref{Address: address("127.1.1.1", e.PortStart)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"vol-r-1": "RW"}, engine.Modes)
	require.NoError(t, f.plane.Remove("node-1", "vol-r-1", false))
	engine, err = s.Engine(Ref{Address: address("127.1.1.1", e.PortStart)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"vol-r-1": "ERR"}, engine.Modes)
}

// A v1 server guesses the type from the name; the process is what its arguments make it.
func TestAV1ReplicaOfAVolumeThatIsNamedLikeAnEngineIsListedAsOne(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V1)
	replica := v1Replica("shop-e-commerce-r-1")
	replica.Args = []string{"--volume-name", "controller", "replica", "/host/replicas/shop"}
	made, err := s.Create(replica)
	require.NoError(t, err)
	require.Equal(t, TypeEngine, s.Report(made).Type)
	got, err := s.Get(V1, replica.Name)
	require.NoError(t, err)
	require.Equal(t, TypeEngine, got.Type)
	require.Equal(t, Running, got.State, "it serves as a replica")
	require.Zero(t, got.TargetPortStart)
	_, err = s.Create(Spec{Name: "shop-e-commerce-e-0", DataEngine: V1, Binary: "longhorn",
		Args: []string{"controller", "shop-e-commerce", "--size", "1", "--current-size", "1",
			"--rebuild-sync-concurrent-limit", "1", "--replica", "tcp://" + address("127.1.1.1", made.PortStart)}})
	require.NoError(t, err)
	all, err := s.List()
	require.NoError(t, err)
	require.Equal(t, TypeEngine, all["shop-e-commerce-e-0"].Type)
	require.Equal(t, Running, all["shop-e-commerce-e-0"].State)
	require.Equal(t, TypeEngine, all[replica.Name].Type)
}

func TestGettingWhatIsUnknownIsNotFound(t *testing.T) {
	f := newFixture(Behaviour{})
	for _, engine := range []string{V1, V2} {
		_, err := f.start(engine).Get(engine, "nobody")
		require.Equal(t, "NotFound", CodeOf(err), engine)
		require.ErrorContains(t, err, "cannot find instance nobody", "P7: callers look for these words")
	}
}

func TestADeletedInstanceIsStoppingThenStoppedThenGone(t *testing.T) {
	f := newFixture(Behaviour{StopTime: time.Second, Linger: time.Second})
	s := f.start(V1)
	made, err := s.Put(v1Replica("r"), "", "")
	require.NoError(t, err)
	answer, err := s.Delete(Deletion{Name: "r", UUID: made.UUID})
	require.NoError(t, err)
	require.Equal(t, Stopping, answer.State)
	require.Equal(t, map[string]string{"r": Stopping}, listed(t, s))
	f.step(time.Second)
	require.Equal(t, map[string]string{"r": Stopped}, listed(t, s))
	f.step(time.Second)
	require.Empty(t, listed(t, s))
	require.Equal(t, []string{"r"}, f.plane.DirectoriesOf("node-1"), "a v1 replica's data is never touched")
}

func TestASecondDeletionWhileTheEntryLingersDoesNothing(t *testing.T) {
	f := newFixture(Behaviour{Linger: time.Second})
	s := f.start(V1)
	made, err := s.Put(v1Replica("r"), "", "")
	require.NoError(t, err)
	for range 2 {
		_, err = s.Delete(Deletion{Name: "r", UUID: made.UUID})
		require.NoError(t, err)
	}
	require.Equal(t, []string{EffectStopped, EffectNone}, effects(f.plane))
}

// effects are those of the deletions in the journal.
func effects(p *Plane) []string {
	var out []string
	for _, e := range p.journal {
		if e.Method == "InstanceDelete" {
			out = append(out, e.Effect)
		}
	}
	return out
}

func TestADeadServerAnswersUnavailable(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	s.Stop()
	_, listErr := s.List()
	_, getErr := s.Get(V2, "r")
	_, createErr := s.Create(v2Replica("r"))
	_, deleteErr := s.Delete(Deletion{Name: "r", DataEngine: V2})
	_, replicasErr := s.SPDKReplicas()
	_, enginesErr := s.SPDKEngines()
	for _, err := range []error{listErr, getErr, createErr, deleteErr, replicasErr, enginesErr} {
		require.Equal(t, "Unavailable", CodeOf(err))
	}
}
