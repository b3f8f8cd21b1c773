package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDeletionsByTheContractsTable(t *testing.T) {
	for _, c := range []struct {
		name      string
		behaviour Behaviour
		engine    string
		put       Spec
		state     string
		ask       Deletion // UUID "right" stands for the true one
		code      string
		effect    string
		destroyed bool
		after     map[string]string
	}{
		{name: "v1 with an unknown name is NotFound", engine: V1, put: v1Replica("r"), ask: Deletion{Name: "nobody"},
			code: "NotFound", effect: EffectNone, after: map[string]string{"r": Running}},
		{name: "v1 with a wrong UUID is NotFound and deletes nothing", engine: V1, put: v1Replica("r"),
			ask:  Deletion{Name: "r", UUID: "wrong"},
			code: "NotFound", effect: EffectNone, after: map[string]string{"r": Running}},
		{name: "v1 with the right UUID stops the process", engine: V1, put: v1Replica("r"),
			ask:  Deletion{Name: "r", UUID: "right", Cleanup: true},
			code: "OK", effect: EffectStopped, after: map[string]string{}},
		{name: "v1 without a UUID stops what carries the name", engine: V1, put: v1Replica("r"), ask: Deletion{Name: "r"},
			code: "OK", effect: EffectStopped, after: map[string]string{}},
		{name: "v2 with an unknown name is OK", engine: V2, put: v2Replica("r"),
			ask:  Deletion{Name: "nobody", Type: TypeReplica, UUID: "any", Cleanup: true},
			code: "OK", effect: EffectNone, after: map[string]string{"r": Running}},
		{name: "v2 with another type is OK and deletes nothing", engine: V2, put: v2Replica("r"),
			ask:  Deletion{Name: "r", Type: TypeEngine, Cleanup: true},
			code: "OK", effect: EffectNone, after: map[string]string{"r": Running}},
		{name: "a conforming v2 server refuses a wrong UUID", engine: V2, put: v2Replica("r"),
			ask:  Deletion{Name: "r", UUID: "wrong", Cleanup: true},
			code: "FailedPrecondition", effect: EffectNone, after: map[string]string{"r": Running}},
		{name: "a conforming v2 server may answer a wrong UUID with NotFound", behaviour: Behaviour{MismatchCode: NotFound}, engine: V2,
			put: v2Replica("r"),
			ask: Deletion{Name: "r", UUID: "wrong", Cleanup: true}, code: "NotFound", effect: EffectNone,
			after: map[string]string{"r": Running}},
		{name: "a v2 server of today deletes under a wrong UUID", behaviour: Behaviour{Mode: Today}, engine: V2, put: v2Replica("r"),
			ask: Deletion{Name: "r", UUID: "wrong", Cleanup: true}, code: "OK", effect: EffectDestroyed, destroyed: true,
			after: map[string]string{}},
		{name: "a v2 replica without clean-up is unexposed and stays as stopped", engine: V2, put: v2Replica("r"),
			ask:  Deletion{Name: "r", UUID: "right"},
			code: "OK", effect: EffectStopped, after: map[string]string{"r": Stopped}},
		{name: "a stopped v2 replica without clean-up is left as it is", engine: V2, put: v2Replica("r"), state: Stopped,
			ask:  Deletion{Name: "r", UUID: "right"},
			code: "OK", effect: EffectNone, after: map[string]string{"r": Stopped}},
		{name: "a v2 replica with clean-up loses its data", engine: V2, put: v2Replica("r"),
			ask:  Deletion{Name: "r", UUID: "right", Cleanup: true},
			code: "OK", effect: EffectDestroyed, destroyed: true, after: map[string]string{}},
		{name: "a v2 engine without clean-up is untouched and yet OK", engine: V2, put: Spec{Name: "e", Type: TypeEngine},
			ask:  Deletion{Name: "e", UUID: "right"},
			code: "OK", effect: EffectNone, after: map[string]string{"e": Running}},
		{name: "a v2 engine with clean-up is removed", engine: V2, put: Spec{Name: "e", Type: TypeEngine},
			ask:  Deletion{Name: "e", UUID: "right", Cleanup: true},
			code: "OK", effect: EffectStopped, after: map[string]string{}},
		{name: "a v2 frontend ignores clean-up", engine: V2, put: Spec{Name: "f", Type: TypeFrontend}, ask: Deletion{Name: "f"},
			code: "OK", effect: EffectStopped, after: map[string]string{}},
		{name: "v2 asked of a v1 server is Unimplemented", engine: V1, put: v1Replica("r"), ask: Deletion{Name: "r", DataEngine: V2},
			code: "Unimplemented", effect: EffectNone, after: map[string]string{"r": Running}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(c.behaviour)
			s := f.start(c.engine)
			c.put.DataEngine = c.engine
			made, err := s.Put(c.put, c.state, "")
			require.NoError(t, err)
			if c.ask.UUID == "right" {
				c.ask.UUID = made.UUID
			}
			if c.ask.DataEngine == "" {
				c.ask.DataEngine = c.engine
			}
			_, err = s.Delete(c.ask)
			require.Equal(t, c.code, CodeOf(err))
			require.Equal(t, c.after, listed(t, s))
			last := f.plane.journal[len(f.plane.journal)-1]
			require.Equal(t, c.code, last.Result)
			require.Equal(t, c.effect, last.Effect)
			require.Equal(t, c.destroyed, last.DataDestroyed)
			require.Equal(t, c.ask.UUID, last.UUIDAsked)
		})
	}
}

func TestAStoppedV2ReplicaIsRevivedWithTheSameUUID(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	made := f.putReplica(t, s, "r", Stopped)
	again, err := s.Create(onDisk(v2Replica("r"), f.plane.EnsureDisk("node-1", "disk-1", "/dev/disk-1", 0)))
	require.NoError(t, err)
	require.Equal(t, made.UUID, again.UUID)
	require.Equal(t, map[string]string{"r": Running}, listed(t, s))
}

// A v1 process that survives its end stays stopping; only another deletion, after the time for it, ends it.
func TestAStuckProcessNeedsAnotherDeletion(t *testing.T) {
	c := newCluster(t, V1, Behaviour{KillTime: time.Minute})
	c.replica(0, "vol")
	s, name := c.servers[0], "vol-r-0"
	remove := func(stuck bool) {
		_, err := s.Delete(Deletion{Name: name, Stuck: stuck})
		require.NoError(t, err)
	}
	remove(true)
	c.step(time.Hour)
	require.Equal(t, Stopping, s.instances[name].State)
	s.instances[name].stuckSince = c.plane.clock.Now()
	remove(true)
	c.step(time.Second)
	require.Equal(t, Stopping, s.instances[name].State, "a repetition that comes too early is passed over")
	c.step(time.Minute)
	remove(true)
	c.step(time.Second)
	require.NotContains(t, s.instances, name)
}
