package instance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// returned is another node that lists the name without a UUID.
func returned(changes ...func(*Place)) change {
	return func(w *World) {
		p := Place{InstanceManager: "im-2", Node: "node-2", Known: true, Address: "10.0.0.2",
			Entry: &Entry{Type: w.Object.Kind, State: v1beta2.InstanceStateRunning}}
		for _, c := range changes {
			c(&p)
		}
		w.Elsewhere = append(w.Elsewhere, p)
	}
}

func TestAnInstanceOnAReturningNodeEnds(t *testing.T) {
	runs := func(w *World) {
		w.Object.DataEngine, w.Object.Running, w.Object.Active = "v2", true, true
		w.Here.Address = "10.0.0.1"
		w.Here.Entry = &Entry{Type: w.Object.Kind, State: v1beta2.InstanceStateRunning, Port: 10010}
		w.Status = was(v1beta2.InstanceStateRunning)
		w.Status.UUID = ""
	}
	for _, c := range []struct {
		name    string
		world   World
		ends    bool
		cleanup bool
	}{
		{"an engine", world(runs, returned()), true, true},
		{"a frontend", world(asFrontend, runs, returned()), true, false},
		{"a replica, whose data stays", world(asReplica, runs, returned()), true, false},
		{"a replica, which has no second one",
			world(asReplica, runs, returned(), func(w *World) { w.Object.Active = false }), true, false},
		{"not beside a frontend that waits for its target", world(asFrontend, runs, returned(), func(w *World) {
			w.Here.Entry.EngineName, w.Here.Entry.ActivePath = "vol-e-1", "10.0.0.8:20001"
		}), false, false},
		{"not where the list is no longer known", world(runs, returned(func(p *Place) { p.Known = false })), false, false},
		{"not where the name is no longer listed", world(runs, returned(func(p *Place) { p.Entry = nil })), false, false},
		{"not one that a frontend there leads to", world(runs, returned(func(p *Place) { p.UsedBy = "engine-frontend vol-ef-0" })), false,
			false},
		{"not one with a UUID, which has an Orphan", world(runs, returned(func(p *Place) { p.Entry.UUID = "u-2" })), false, false},
		{"not where the server does not answer", world(runs, returned(func(p *Place) { p.Known, p.Entry = false, nil })), false, false},
		{"not on a node that is out", world(runs, returned(func(p *Place) { p.Out = true })), false, false},
		{"not where it is ending", world(runs, returned(func(p *Place) { p.Entry.State = v1beta2.InstanceStateStopping })), false, false},
		{"not of another type", world(runs, returned(func(p *Place) { p.Entry.Type = "other" })), false, false},
		{"not at the same address, which is the same server", world(runs, returned(func(p *Place) { p.Address = "10.0.0.1" })), false,
			false},
		{"not on the node where the object is", world(runs, returned(func(p *Place) { p.Node = "node-1" })), false, false},
		{"not while the object's own instance is not listed running",
			world(runs, returned(), func(w *World) { w.Here.Entry = nil }), false, false},
		{"nor while its inventory is unknown", world(runs, returned(), unread), false, false},
		{"nor while the status does not report it running yet",
			world(runs, returned(), func(w *World) { w.Status.State = v1beta2.InstanceStateStarting }), false, false},
		{"nor while the status names another instance manager",
			world(runs, returned(), func(w *World) { w.Status.InstanceManager = "im-0" }), false, false},
		{"nor while the object's spec names another node",
			world(runs, returned(), func(w *World) { w.Object.NodeID = "node-3" }), false, false},
		{"not for the second engine of a migration or a switch-over", world(runs, returned(), func(w *World) { w.Object.Active = false }),
			false, false},
		{"not for an object that is being deleted", world(runs, returned(), func(w *World) { w.Object.Deleting = true }), false, false},
		{"v1 has UUIDs", world(runs, returned(), func(w *World) { w.Object.DataEngine = "v1" }), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			if !c.ends {
				require.Equal(t, OpNone, v.Call.Op, v.Message)
				return
			}
			require.Equal(t, Call{Op: OpDelete, InstanceManager: "im-2", ByName: true, Cleanup: c.cleanup}, v.Call)
			require.True(t, v.Status.Equal(c.world.Status) || v.Status.State == v1beta2.InstanceStateRunning,
				"the instance on the object's node stays")
		})
	}
	used := Decide(world(runs, returned(func(p *Place) { p.UsedBy = "engine-frontend vol-ef-0" })))
	require.Equal(t, ReasonLeftover, used.Reason)
	require.Contains(t, used.Message, "which engine-frontend vol-ef-0 uses")
}

// L4: a replica that ends before an engine that may write to it lacks what the engine writes then, and nobody knows.
func TestAReplicaStaysUnderAnEngineThatNoObjectAccountsFor(t *testing.T) {
	used := func(w *World) { asReplica(w); lists(running)(w); w.MayUse = "Engine vol-e-3 on im" }
	for name, change := range map[string]change{
		"it is to stop":                 func(*World) {},
		"it is to run, and never began": wanted,
		"it is to stop, and began":      status(was(running)),
	} {
		v := Decide(world(change, used))
		require.Equal(t, ReasonOtherLive, v.Reason, name)
		require.Equal(t, OpNone, v.Call.Op, name)
		require.Contains(t, v.Message, "Engine vol-e-3 on im runs although no object shows it", name)
		free := Decide(world(change, used, func(w *World) { w.MayUse = "" }))
		require.Equal(t, OpDelete, free.Call.Op, name)
	}
	kept := Decide(world(wanted, status(was(running)), used))
	require.Equal(t, OpNone, kept.Call.Op)
	require.Equal(t, running, kept.Status.State, "it serves, as its object shows")
}
