package instance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// ATT-1: at most one engine of a volume is live, but for a migration and a target that moves.
func TestNoEngineIsStartedBesideALiveOne(t *testing.T) {
	second := func(w *World) { w.Object.Active = false }
	migrating := func(w *World) { w.Peers.Migrating = true }
	targets := func(nodes ...string) change { return func(w *World) { w.Peers.Targets = nodes } }
	beside := func(p Peer) change {
		return func(w *World) { w.Peers.Read, w.Peers.Same = true, append(w.Peers.Same, p) }
	}
	leftover := func(w *World) { w.Peers.Read, w.Peers.Leftovers = true, []string{"vol-e-7 on im-2"} }
	rw := map[string]string{"vol-r-1": v1beta2.ReplicaModeRW}
	overSame := func(w *World) {
		w.Object.Engine.Replicas = map[string]string{"vol-r-2": "10.0.0.9:10000"}
		w.Peers.SameData = map[string][]string{"vol-r-2": {"vol-r-1"}}
	}
	live := Peer{Name: "vol-e-1", State: running, Begun: true, Modes: rw}
	inUse := func(w *World) { w.Peers.SameData = map[string][]string{"vol-r-1": {"vol-r-1"}} }
	for _, c := range []struct {
		name   string
		world  World
		starts bool
		reason string
	}{
		{"one that runs", world(wanted, beside(live)), false, ReasonOtherLive},
		{"one that may be starting", world(wanted, beside(Peer{Name: "vol-e-1", State: halted, Begun: true})), false, ReasonOtherLive},
		{"one in an unknown state", world(wanted, beside(Peer{Name: "vol-e-1", State: unknown, Begun: true})), false, ReasonOtherLive},
		{"one in error, which may still write", world(wanted, beside(Peer{Name: "vol-e-1", State: failed, Begun: true})), false,
			ReasonOtherLive},
		{"one without an object", world(wanted, leftover), false, ReasonUnclaimedLive},
		{"one that is stopped does not count", world(wanted, beside(Peer{Name: "vol-e-1", State: halted})), true, ReasonCalling},
		{"one that is concluded stopped is fenced", world(wanted, beside(Peer{Name: "vol-e-1", State: halted, NodeDown: true})), true,
			ReasonCalling},
		{"one that is not begun yet does not count", world(wanted, beside(Peer{Name: "vol-e-1", Wanted: true})), true, ReasonCalling},
		{"the second engine of a migration may, over processes of its own", world(wanted, second, migrating, overSame, beside(live)), true,
			ReasonCalling},
		{"the second engine of a v2 migration may", world(wanted, v2, second, migrating, beside(live)), true, ReasonCalling},
		{"never over a v1 process that serves the live one (K1)", world(wanted, second, migrating, inUse, beside(live)), false,
			ReasonReplicaNotReady},
		{"the second engine of a volume that does not migrate may not", world(wanted, second, beside(live)), false, ReasonOtherLive},
		{"the active one of a migration may not", world(wanted, migrating, beside(live)), false, ReasonOtherLive},
		{"the second target of a v2 volume may, on the node of its target",
			world(wanted, v2, second, targets("node-2", "node-1"), beside(live)), true, ReasonCalling},
		{"but nowhere else", world(wanted, v2, second, targets("node-2"), beside(live)), false, ReasonOtherLive},
		{"and never a v1 engine", world(wanted, second, targets("node-1"), beside(live)), false, ReasonOtherLive},
		{"nor a second frontend", world(wanted, asFrontend, second, targets("node-1"),
			beside(Peer{Name: "vol-ef-1", State: running, Begun: true})), false, ReasonOtherLive},
		{"and only over replicas that the live one has in mode RW",
			world(wanted, v2, second, targets("node-1"),
				beside(Peer{Name: "vol-e-1", State: running, Begun: true, Modes: map[string]string{"vol-r-1": "ERR"}})), false,
			ReasonReplicaNotReady},
		{"but only over replicas that the live one has in mode RW (M7)",
			world(wanted, second, migrating, overSame, beside(Peer{Name: "vol-e-1", State: running, Begun: true,
				Modes: map[string]string{"vol-r-1": "WO"}})), false, ReasonReplicaNotReady},
		{"and that it has at all", world(wanted, second, migrating, beside(Peer{Name: "vol-e-1", State: running, Begun: true})), false,
			ReasonReplicaNotReady},
		{"a frontend beside another one may not", world(wanted, asFrontend, beside(Peer{Name: "vol-ef-1", State: running, Begun: true})),
			false, ReasonOtherLive},
		{"a replica has no such rule", world(wanted, asReplica, beside(live)), true, ReasonCalling},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.starts, v.Call.Op == OpCreate)
			require.Equal(t, c.reason, v.Reason)
			if !c.starts {
				require.NotEmpty(t, v.Message)
			}
		})
	}
}
