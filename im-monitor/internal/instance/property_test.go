package instance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

var listed = []string{running, "suspended", starting, stopping, halted, failed, "pending", "terminating", "dancing"}

func drawEntry(t *rapid.T) *Entry {
	if rapid.Bool().Draw(t, "lacked") {
		return nil
	}
	e := &Entry{State: rapid.SampledFrom(listed).Draw(t, "listed"), UUID: rapid.SampledFrom([]string{"", "u-1", "u-2"}).Draw(t, "uuid"),
		Port: 10010}
	for _, ip := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"10.0.0.8", "10.0.0.9"}), 0, 2, rapid.ID[string]).Draw(t,
		"paths") {
		e.Paths = append(e.Paths, v1beta2.NvmeTCPPath{TargetIP: ip, TargetPort: 20001,
			ANAState: rapid.SampledFrom([]string{anaOptimized, "non-optimized", anaInaccessible}).Draw(t, "ana")})
	}
	return e
}

func drawPlace(t *rapid.T, name string) Place {
	p := Place{InstanceManager: name, Node: rapid.SampledFrom([]string{"node-1", "node-2"}).Draw(t, "node"), IP: "10.0.0.1",
		Running: rapid.Bool().Draw(t, "running"), PodMissing: rapid.Bool().Draw(t, "podMissing"), Known: rapid.Bool().Draw(t, "known")}
	p.Unheard = !p.Known && rapid.Bool().Draw(t, "unheard")
	if p.Known {
		p.Entry = drawEntry(t)
		p.Absent = p.Entry == nil && rapid.Bool().Draw(t, "absent")
	}
	return p
}

func drawStatus(t *rapid.T) Status {
	s := Status{State: rapid.SampledFrom([]string{"", running, "suspended", halted, failed, starting, stopping, unknown}).Draw(t, "state"),
		Starting: rapid.Bool().Draw(t, "starting"), Started: rapid.Bool().Draw(t, "started"),
		NodeDown: rapid.SampledFrom([]string{"", "", v1beta2.ReasonNodeDown}).Draw(t, "nodeDown")}
	if rapid.Bool().Draw(t, "placed") {
		s.InstanceManager, s.UUID, s.Port = im, "u-1", 10010
	}
	return s
}

func drawWorld(t *rapid.T) World {
	w := world()
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 1:
		v2(&w)
	case 2:
		asReplica(&w)
	case 3:
		asFrontend(&w)
	}
	if rapid.Bool().Draw(t, "v2 replica") && w.replica() {
		v2(&w)
	}
	w.Object.Running, w.Object.Active = rapid.Bool().Draw(t, "wanted"), rapid.Bool().Draw(t, "active")
	w.Object.Kept = w.Object.Kind == v1beta2.InstanceTypeReplica && rapid.Bool().Draw(t, "kept")
	w.Object.Deleting, w.Object.SalvageRequested = rapid.Bool().Draw(t, "deleting"), rapid.Bool().Draw(t, "salvage")
	w.Node.Down, w.Node.OutOfService = rapid.Bool().Draw(t, "down"), rapid.IntRange(0, 4).Draw(t, "out") == 0
	w.Node.Upgrading = rapid.Bool().Draw(t, "upgrading")
	w.Status = drawStatus(t)
	place := drawPlace(t, im)
	w.Here = &place
	if rapid.IntRange(0, 4).Draw(t, "nowhere") == 0 {
		w.Here, w.HereGone = nil, w.Status.InstanceManager != ""
	}
	if rapid.IntRange(0, 4).Draw(t, "pod only") == 0 {
		podOnly(&w)
	}
	if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
		other := drawPlace(t, "im-2")
		if other.Known && other.Entry != nil {
			w.Elsewhere = append(w.Elsewhere, other)
		}
	}
	w.Peers.Read, w.Peers.Migrating = rapid.Bool().Draw(t, "read"), rapid.Bool().Draw(t, "migrating")
	if rapid.Bool().Draw(t, "peer") {
		w.Peers.Same = []Peer{{Name: "vol-e-1", State: rapid.SampledFrom([]string{"", halted, running, unknown}).Draw(t, "peer's"),
			Begun: rapid.Bool().Draw(t, "peer begun")}}
		w.Peers.Replicas = []Peer{{Name: "vol-r-2", State: rapid.SampledFrom([]string{halted, running}).Draw(t, "replica's"),
			On: rapid.Bool().Draw(t, "on")}}
	}
	if rapid.IntRange(0, 9).Draw(t, "held") == 0 {
		w.Held = now.Add(time.Minute)
	}
	w.Refusals = rapid.IntRange(0, 4).Draw(t, "refusals")
	return w
}

// applied is the World after the verdict's status was written and nothing else changed.
func applied(w World, v Verdict) World {
	w.Status = v.Status
	return w
}

func TestEveryWorldHasOneStableVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		require.Equal(t, v, Decide(w), "deterministic")
		require.NotEmpty(t, v.Reason)
		again := Decide(applied(w, v))
		require.Truef(t, v.Status.Equal(again.Status), "not idempotent: %+v then %+v", v.Status, again.Status)
		require.Equal(t, v.Call, again.Call)
		require.Empty(t, again.Events, "emitted twice")
	})
}

func TestUnknownIsNeverTreatedAsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		if w.Here == nil || v.Status.State != halted || w.Status.State == halted {
			return
		}
		evident := w.Here.Known && (w.Here.Absent || w.Here.Entry != nil && w.Here.Entry.State == halted || !w.Status.Begun())
		podless := w.Here.PodMissing && !w.frontend() || w.HereGone
		cutOff := w.Node.Out() && w.Peers.Read && w.Peers.running() == ""
		never := !w.Status.Begun() && w.Object.Running
		require.True(t, evident || podless || cutOff || never, "stopped on no evidence: %+v", w)
	})
}

func TestNoCallGoesToAnUnknownInventory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		if v.Call.Op == OpNone {
			return
		}
		places := append([]Place{}, w.Elsewhere...)
		if w.Here != nil {
			places = append(places, *w.Here)
		}
		for _, p := range places {
			if p.InstanceManager == v.Call.InstanceManager {
				require.True(t, p.Known)
				require.Equal(t, v.Call.Op != OpCreate, p.Entry != nil && v.Call.Op != OpCreate)
			}
		}
	})
}

// ORP-2: stopping a replica never destroys its data; a deletion names a UUID where the list reports one.
func TestAStopKeepsDataAndCarriesTheUUID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if call := Decide(w).Call; call.Op == OpDelete {
			require.False(t, w.replica() && call.Cleanup)
			require.Equal(t, call.UUID == "", call.ByName)
		}
	})
}

// ATT-1: with the peers read, no engine or frontend is created beside a live one unless it is the second of a volume that may have two.
func TestNoSecondEngineIsCreatedWithoutAMigrationOrASwitchOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		if v.Call.Op != OpCreate {
			return
		}
		require.True(t, w.Object.Running && (!w.Object.Deleting || w.Object.Kept) && !w.Node.Out() && w.Here.Known && !w.Status.supervised())
		for _, other := range w.Elsewhere {
			require.False(t, lives(other.Entry.State), "its own name lives elsewhere")
		}
		if w.replica() || !w.Peers.Read || !w.Object.Active {
			return
		}
		for _, p := range w.Peers.Same {
			require.False(t, p.live())
		}
	})
}
