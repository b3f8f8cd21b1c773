package removal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func some[T any](t *rapid.T, label string, limit int, draw func() T) []T {
	var out []T
	for range rapid.IntRange(0, limit).Draw(t, label) {
		out = append(out, draw())
	}
	return out
}

func flip(t *rapid.T, label string) bool { return rapid.Bool().Draw(t, label) }

func drawReplica(t *rapid.T) removal.Replica {
	r := removal.Replica{
		Name: name, Volume: volume, VolumeUID: pick(t, "owner", "uid-1", "uid-1", "uid-2", ""),
		DataEngine: pick(t, "data engine", "v2", "v2", "v2", "v1"),
		Node:       pick(t, "node", "node-1", "node-1", ""), Disk: pick(t, "disk", disk, ""),
		Current:    pick(t, "current", "stopped", "stopped", "running", "unknown", ""),
		Generation: int64(pick(t, "generation", 1, 2)), WantsToRun: pick(t, "wants to run", false, false, true),
		Begun: pick(t, "begun", false, false, true), Deleting: pick(t, "deleting", true, true, false),
		Approval: pick(t, "approval", v1beta2.ReasonVolumeDeleting, v1beta2.ReasonHealthyCopyElsewhere, "", "Other"),
	}
	if pick(t, "reported", false, false, true) {
		r.Said = reported(pick(t, "status", v1beta2.ConditionTrue, v1beta2.ConditionFalse),
			pick(t, "reason", v1beta2.ReasonUnreachable, v1beta2.ReasonRemoved))
	}
	return r
}

func drawPlace(t *rapid.T) removal.Place {
	p := removal.Place{InstanceManager: pick(t, "im", here, there), Known: pick(t, "known", true, true, false),
		Duplicate: pick(t, "duplicate", "", "", "", there)}
	if !p.Known {
		return removal.Place{InstanceManager: p.InstanceManager}
	}
	if pick(t, "unloaded", false, false, true) {
		p.Unloaded = []string{"disk-1"}
		return p
	}
	if p.Absent = flip(t, "absent"); !p.Absent {
		p.Instance = &removal.Instance{Type: pick(t, "type", "replica", "replica", "engine"), State: pick(t, "state", "stopped", "running"),
			UUID: pick(t, "uuid", uuid, uuid, ""), Disk: pick(t, "listed disk", disk, disk, other, "")}
	}
	return p
}

func drawWorld(t *rapid.T) removal.World {
	w := removal.World{Now: now, Replica: drawReplica(t), Places: some(t, "places", 2, func() removal.Place { return drawPlace(t) }),
		FencingDelayEnds: pick(t, "post-election delay", now, now.Add(-time.Hour), now.Add(time.Minute)), Called: flip(t, "called")}
	if pick(t, "has node", true, true, false) {
		w.Node = &removal.Node{Down: pick(t, "down", false, false, true)}
	}
	if flip(t, "failed") {
		w.Failure = &removal.Failure{Reason: v1beta2.ReasonMappedByEngine, Message: "before"}
	}
	return w
}

// drawCall breaks some parts of a world in which everything is ready.
func drawCall(t *rapid.T) removal.CallWorld {
	c := pick(t, "ready", dying, surplus)()
	spoil := func(label string, f func()) {
		if rapid.IntRange(0, 5).Draw(t, "spoil "+label) == 5 {
			f()
		}
	}
	names := []string{name, copied, "vol-1-r-cccccccc"}
	spoil("replica", func() { c.World.Replica = drawReplica(t) })
	spoil("node", func() { c.World.Node = pick(t, "node", nil, &removal.Node{Down: true}) })
	spoil("lists", func() { c.World.Places = some(t, "places", 2, func() removal.Place { return drawPlace(t) }) })
	spoil("leader", func() { c.World.FencingDelayEnds = now.Add(time.Minute) })
	spoil("volume", func() {
		c.Volume = pick(t, "volume", nil, &removal.Volume{UID: "uid-1"}, &removal.Volume{UID: "uid-2"})
	})
	spoil("engines", func() {
		c.Engines = some(t, "engines", 2, func() mapping.Engine {
			return mapping.Engine{Name: "e", Running: flip(t, "runs"), Replicas: map[string]string{pick(t, "maps", names...): ""}}
		})
	})
	spoil("around", func() {
		c.Places = some(t, "around", 2, func() mapping.Place {
			return mapping.Place{Needed: flip(t, "needed"), Known: flip(t, "place known"), Down: flip(t, "place down"),
				MappedBy: pick(t, "mapped", "", "", "e")}
		})
	})
	spoil("looks", func() {
		c.Polls = some(t, "looks", 2, func() removal.Poll {
			return removal.Poll{Modes: map[string]string{pick(t, "seen", names...): pick(t, "mode", "RW", "WO", "ERR")}}
		})
	})
	spoil("copies", func() {
		c.Copies = some(t, "copies", 3, func() removal.Copy {
			return removal.Copy{Name: pick(t, "copy", names...), Deleting: flip(t, "copy goes"), Healthy: flip(t, "healthy"),
				Out: flip(t, "out"), Listed: flip(t, "listed")}
		})
	})
	return c
}

// The same world has the same verdict, and a world with that verdict in its status gets no new one.
func TestEvaluateIsTotalDeterministicAndIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := removal.Evaluate(w)
		require.Equal(t, v, removal.Evaluate(w))
		if v.Condition == nil {
			return
		}
		w.Replica.Said = v.Condition
		again := removal.Evaluate(w)
		if v.Condition.Status == v1beta2.ConditionTrue {
			require.Equal(t, removal.Verdict{}, again, "an end is final")
			return
		}
		require.Equal(t, v, again)
	})
}

// No evidence without approval, and none that the lists do not prove.
func TestAnEndIsProven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := removal.Evaluate(w)
		if v.Condition == nil || v.Condition.Status != v1beta2.ConditionTrue {
			return
		}
		require.True(t, removal.Wanted(w.Replica))
		require.False(t, w.FencingDelayEnds.After(w.Now))
		require.Equal(t, removal.Rest, v.Step)
		switch {
		case w.Replica.DataEngine == "v1":
			require.Equal(t, v1beta2.ReplicaInstanceGone, v.Condition.Type)
			require.Equal(t, w.Replica.Generation, v.Condition.ObservedGeneration)
			require.False(t, w.Replica.WantsToRun || w.Replica.Begun || w.Replica.Current == "running")
			requireAbsent(t, w)
		case w.Replica.Node == "":
			require.Equal(t, v1beta2.ReasonNothingToRemove, v.Condition.Reason)
		case w.Node == nil:
			require.Equal(t, v1beta2.ReasonNodeGone, v.Condition.Reason)
		default:
			requireAbsent(t, w)
			require.Equal(t, w.Called, v.Condition.Reason == v1beta2.ReasonRemoved)
		}
	})
}

func requireAbsent(t *rapid.T, w removal.World) {
	require.NotNil(t, w.Node)
	require.False(t, w.Node.Down)
	require.NotEmpty(t, w.Places)
	for _, p := range w.Places {
		require.True(t, p.Known && p.Absent && p.Instance == nil)
	}
}

// UPG-1, ORP-2: never a call without approval, premise, identity and the proof that nothing uses the data.
func TestNoDataInUseIsDestroyed(t *testing.T) {
	allowed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCall(t)
		got := removal.DecideCall(c)
		require.Equal(t, got, removal.DecideCall(c))
		if !got.Allowed {
			require.False(t, got.Failure != nil && got.Held != "")
			refused++
			return
		}
		allowed++
		r := c.World.Replica
		require.True(t, r.Deleting && r.DataEngine == "v2" && !r.Begun)
		require.False(t, c.World.FencingDelayEnds.After(now))
		require.NotNil(t, c.World.Node)
		require.False(t, c.World.Node.Down)
		require.Equal(t, uuid, got.Instance.UUID)
		require.Equal(t, "replica", got.Instance.Type)
		require.NotEqual(t, other, map[bool]string{true: got.Instance.Disk}[r.Disk != ""])
		for _, e := range c.Engines {
			_, maps := e.Replicas[name]
			require.False(t, maps && e.Running)
		}
		for _, p := range c.Places {
			require.Empty(t, p.MappedBy)
			require.True(t, p.Known || p.Down || !p.Needed)
		}
		switch r.Approval {
		case v1beta2.ReasonVolumeDeleting:
			require.True(t, c.Volume == nil || c.Volume.Deleting || (r.VolumeUID != "" && r.VolumeUID != c.Volume.UID))
		case v1beta2.ReasonHealthyCopyElsewhere:
			require.True(t, survives(c), "no copy would survive: %+v", c)
		default:
			t.Fatalf("approved for %q", r.Approval)
		}
	})
	require.Positive(t, allowed, "no drawn world allowed a call")
	require.Positive(t, refused)
}

// survives reports whether another replica certainly has the data.
func survives(c removal.CallWorld) bool {
	for _, one := range c.Copies {
		if one.Name == name || one.Deleting || !one.Healthy || one.Out || !one.Listed {
			continue
		}
		for _, l := range c.Polls {
			if l.Modes[one.Name] == "RW" {
				return true
			}
		}
	}
	return false
}
