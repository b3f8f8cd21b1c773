package removal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

const copied = "vol-1-r-bbbbbbbb"

// surplus is a removal that relies on another copy, which is healthy.
func surplus(change ...func(*removal.CallWorld)) removal.CallWorld {
	c := removal.CallWorld{
		World:  seen(approved(v1beta2.ReasonHealthyCopyElsewhere)),
		Volume: &removal.Volume{UID: "uid-1"},
		Engines: []mapping.Engine{
			{Name: "vol-1-e-0", Running: true, Replicas: map[string]string{copied: "10.0.0.2:20001"}}},
		Places: []mapping.Place{{InstanceManager: there, Node: "node-2", Needed: true, Known: true}},
		Polls:  []removal.Poll{{Engine: "vol-1-e-0", Modes: map[string]string{copied: "RW"}}},
		Copies: []removal.Copy{{Name: copied, Healthy: true, Listed: true}},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// dying is a removal that relies on the end of the volume.
func dying(change ...func(*removal.CallWorld)) removal.CallWorld {
	c := removal.CallWorld{World: seen(), Volume: &removal.Volume{UID: "uid-1", Deleting: true}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func world(f func(*removal.World)) func(*removal.CallWorld) {
	return func(c *removal.CallWorld) { f(&c.World) }
}
func otherCopy(f func(*removal.Copy)) func(*removal.CallWorld) {
	return func(c *removal.CallWorld) { f(&c.Copies[0]) }
}
func poll(f func(*removal.Poll)) func(*removal.CallWorld) {
	return func(c *removal.CallWorld) { f(&c.Polls[0]) }
}
func mode(replica, mode string) func(*removal.CallWorld) {
	return poll(func(l *removal.Poll) { l.Modes = map[string]string{replica: mode} })
}
func clock(ahead time.Duration) func(*removal.CallWorld) {
	return world(func(w *removal.World) { w.Now = w.Now.Add(ahead) })
}
func of(v *removal.Volume) func(*removal.CallWorld) {
	return func(c *removal.CallWorld) { c.Volume = v }
}
func inPlace(p mapping.Place) func(*removal.CallWorld) {
	return func(c *removal.CallWorld) { c.Places = append(c.Places, p) }
}
func engine(running bool) func(*removal.CallWorld) {
	return func(c *removal.CallWorld) {
		c.Engines = append(c.Engines, mapping.Engine{Name: "vol-1-e-1", Running: running, Replicas: map[string]string{name: ""}})
	}
}

func TestDecideCall(t *testing.T) {
	const allowed, held, disagreed = "allowed", "held", "disagreed"
	for _, c := range []struct {
		name string
		c    removal.CallWorld
		want string
	}{
		{"the volume is being deleted", dying(), allowed},
		{"the volume is gone", dying(of(nil)), allowed},
		{"the volume of that name is another one", dying(of(&removal.Volume{UID: "uid-2"})), allowed},
		{"the volume exists", dying(of(&removal.Volume{UID: "uid-1"})), held},
		{"the volume exists and the replica has no owner UID", dying(of(&removal.Volume{UID: "uid-2"}),
			world(replica(func(r *removal.Replica) { r.VolumeUID = "" }))), held},
		{"the volume exists although another copy is healthy", surplus(world(approved(v1beta2.ReasonVolumeDeleting))), held},

		{"another copy is seen healthy", surplus(), allowed},
		{"there is no other copy", surplus(func(c *removal.CallWorld) { c.Copies = nil }), held},
		{"the only copy is the replica itself", surplus(otherCopy(func(o *removal.Copy) { o.Name = name }), mode(name, "RW")), held},
		{"the other copy is being deleted, too", surplus(otherCopy(func(o *removal.Copy) { o.Deleting = true })), held},
		{"the other copy failed, or never was complete", surplus(otherCopy(func(o *removal.Copy) { o.Healthy = false })), held},
		{"the other copy's node is down", surplus(otherCopy(func(o *removal.Copy) { o.Out = true })), held},
		{"no new list shows the other copy running", surplus(otherCopy(func(o *removal.Copy) { o.Listed = false })), held},
		{"the other copy is still being rebuilt", surplus(mode(copied, "WO")), held},
		{"the other copy failed in the engine", surplus(mode(copied, "ERR")), held},
		{"the engine does not use the other copy", surplus(mode("vol-1-r-cccccccc", "RW")), held},
		{"no engine runs", surplus(func(c *removal.CallWorld) { c.Polls = nil }), held},
		{"the clock of this process is an hour ahead of that of the deletion", surplus(clock(time.Hour)), allowed},
		{"it is an hour behind", surplus(clock(-time.Hour), func(c *removal.CallWorld) {
			c.World.FencingDelayEnds = c.World.FencingDelayEnds.Add(-time.Hour)
		}), allowed},
		{"the volume is gone, for which the copy was approved", surplus(of(nil)), allowed},

		{"a running engine's object maps it", dying(engine(true)), v1beta2.ReasonMappedByEngine},
		{"a stopped engine's object maps it", dying(engine(false)), allowed},
		{"an engine of some inventory maps it", dying(inPlace(mapping.Place{Node: "node-9", Known: true, MappedBy: "vol-1-e-7"})),
			v1beta2.ReasonMappedByEngine},
		{"an engine that was just polled uses it",
			surplus(poll(func(l *removal.Poll) { l.Modes = map[string]string{copied: "RW", name: "ERR"} })), v1beta2.ReasonMappedByEngine},
		{"an instance manager that may run an engine does not answer", dying(inPlace(mapping.Place{Node: "node-9", Needed: true})),
			v1beta2.ReasonUnreachable},
		{"an instance manager that runs none of its engines does not answer", dying(inPlace(mapping.Place{Node: "node-9"})), allowed},
		{"an instance manager that may run an engine is on a down node",
			dying(inPlace(mapping.Place{Node: "node-9", Needed: true, Down: true})), allowed},

		{"the approval was withdrawn", dying(world(approved(""))), disagreed},
		{"it is gone meanwhile", dying(world(missing(true))), disagreed},
		{"it runs again", dying(world(replica(func(r *removal.Replica) { r.Current = "running" }))), disagreed},
		{"its node went down", dying(world(func(w *removal.World) { w.Node.Down = true })), disagreed},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := removal.DecideCall(c.c)
			switch c.want {
			case allowed:
				require.Equal(t, removal.Call{Allowed: true, InstanceManager: here, Instance: *c.c.World.Places[0].Instance}, got)
			case held:
				require.False(t, got.Allowed)
				require.NotEmpty(t, got.Held)
				require.Nil(t, got.Failure)
			case disagreed:
				require.Zero(t, got)
			default:
				require.False(t, got.Allowed)
				require.NotNil(t, got.Failure)
				require.Equal(t, c.want, got.Failure.Reason)
			}
		})
	}
}
