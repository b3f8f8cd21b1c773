package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

var names = []string{"a", "b", "c", "d"}

// anyWorld is a poll of an arbitrary engine.
func anyWorld(t *rapid.T) engine.World {
	w := world(subset(t, "wanted")...)
	e := w.Engine
	for _, name := range subset(t, "listed") {
		r := engine.Replica{Name: name, Address: "tcp://" + at(name), Mode: mode(t)}
		switch rapid.IntRange(0, 4).Draw(t, "reported") {
		case 0:
			r.Name = ""
		case 1:
			r.Address = "tcp://10.9.9.9:" + name
		}
		w.Seen.Replicas = append(w.Seen.Replicas, r)
	}
	for _, name := range subset(t, "before") {
		e.Status.ReplicaModeMap = with(e.Status.ReplicaModeMap, name, mode(t))
	}
	w.Failures, w.Waits, w.Failed = map[string]int{}, map[engine.Key]time.Time{}, map[engine.Key]string{}
	for _, name := range names {
		w.Failures[name] = rapid.IntRange(0, 4).Draw(t, "failures")
		for _, op := range []engine.Op{engine.OpAdd, engine.OpRemove} {
			w.Waits[engine.Key{Op: op, Name: name}] = now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "wait")) * time.Second)
			if rapid.Bool().Draw(t, "answered") {
				w.Failed[engine.Key{Op: op, Name: name}] = "no"
			}
		}
	}
	w.Adding = rapid.SampledFrom(append([]string{"", ""}, names...)).Draw(t, "adding")
	if rapid.Bool().Draw(t, "sized") {
		w.Seen.Volume = &engine.Volume{Size: volumesize.Backend(rapid.Int64Range(0, 2*gib).Draw(t, "size")),
			Expanding: rapid.Bool().Draw(t, "expanding")}
	}
	anyCopies(t, &w)
	w.Seen.Unanswered = engine.Unanswered{Snapshots: rapid.Bool().Draw(t, "no snapshots"),
		Volume: w.Seen.Volume == nil && rapid.Bool().Draw(t, "no volume"), Purges: rapid.Bool().Draw(t, "no purges"),
		Rebuilds: w.Seen.Rebuilds == nil && rapid.Bool().Draw(t, "no rebuilds"),
		Clones:   w.Seen.Clones == nil && rapid.Bool().Draw(t, "no clones"),
		Restores: w.Seen.Restores == nil && rapid.Bool().Draw(t, "no restores")}
	moments := rapid.SampledFrom([]string{"", "soon", now.Format(time.RFC3339Nano), now.Add(time.Second).Format(time.RFC3339Nano)})
	e.Spec.LookRequestedAt, e.Status.LookedAt = moments.Draw(t, "asked"), moments.Draw(t, "polled")
	return w
}

func anyCopies(t *rapid.T, w *engine.World) {
	state := rapid.SampledFrom([]string{"", "in_progress", "complete", "error"})
	if rapid.Bool().Draw(t, "copied") {
		w.Engine.Spec.RequestedDataSource = "snap://other/one"
		w.Seen.Clones = map[string]v1beta2.SnapshotCloneStatus{}
		for _, name := range subset(t, "copies") {
			s := state.Draw(t, "copy")
			w.Seen.Clones["tcp://"+at(name)] = v1beta2.SnapshotCloneStatus{State: s, IsCloning: s == "in_progress"}
		}
	}
	if rapid.Bool().Draw(t, "restored") {
		w.Engine.Spec.RequestedBackupRestore = "backup"
		w.Seen.Restores = map[string]v1beta2.RestoreStatus{}
		for _, name := range subset(t, "restores") {
			s := state.Draw(t, "restore")
			w.Seen.Restores["tcp://"+at(name)] = v1beta2.RestoreStatus{State: s, IsRestoring: s == "in_progress",
				LastRestored: rapid.SampledFrom([]string{"", "backup"}).Draw(t, "last")}
		}
	}
	if rapid.Bool().Draw(t, "rebuilds") {
		w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{"tcp://" + at("a"): {Progress: 3}, "tcp://10.8.8.8:1": {}}
	}
}

func with(in map[string]string, key, value string) map[string]string {
	if in == nil {
		in = map[string]string{}
	}
	in[key] = value
	return in
}

func subset(t *rapid.T, label string) (out []string) {
	for _, name := range names {
		if rapid.Bool().Draw(t, label+" "+name) {
			out = append(out, name)
		}
	}
	return out
}

func mode(t *rapid.T) string { return rapid.SampledFrom([]string{rw, rw, wo, failed}).Draw(t, "mode") }

func TestDecideIsDeterministicAndDoesNotModifyItsWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		before := w.Engine.DeepCopy()
		require.Equal(t, engine.Decide(w), engine.Decide(w))
		require.Equal(t, before, w.Engine)
	})
}

func TestDecideIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		first := engine.Decide(w)
		w.Engine = w.Engine.DeepCopy()
		w.Engine.Status = first.Status
		w.Now = w.Now.Add(time.Minute)
		require.Equal(t, first.Status, engine.Decide(w).Status)
	})
}

func TestAnEngineAlwaysKeepsAnRWReplicaOfItsSpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		stays := map[string]bool{}
		for _, r := range w.Seen.Replicas {
			for name, address := range w.Engine.Spec.ReplicaAddressMap {
				stays[r.Address] = stays[r.Address] || r.Mode == rw && r.Address == "tcp://"+address && (r.Name == "" || r.Name == name)
			}
		}
		removed := false
		for _, c := range engine.Decide(w).Calls {
			if c.Op == engine.OpRemove {
				removed = true
				require.False(t, stays[c.Address], "%+v", c)
			}
		}
		if removed {
			require.Contains(t, values(stays), true)
		}
	})
}

func TestOneOperationIsBegunAtATimeAndNoneDuringARebuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		begun, fills := 0, 0
		for _, c := range engine.Decide(w).Calls {
			if c.Op != engine.OpRemove {
				begun++
			}
			if c.Op == engine.OpRestore || c.Op == engine.OpVerify {
				fills++
			}
		}
		require.LessOrEqual(t, begun, 1)
		rebuilding := w.Adding != ""
		for _, r := range w.Seen.Replicas {
			rebuilding = rebuilding || r.Mode == wo
		}
		if rebuilding && w.Adding == "" && w.Engine.Spec.RequestedBackupRestore != "" {
			begun -= fills // a restore fills the replica
		}
		if rebuilding {
			require.Zero(t, begun)
		}
	})
}

func TestNoCallIsMadeBeforeItsRetryIsDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for _, c := range engine.Decide(w).Calls {
			require.False(t, w.Now.Before(w.Waits[c.Key()]), "%+v", c)
		}
	})
}

func TestAPollRequestIsAnsweredWithItsOwnTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		_, err := time.Parse(time.RFC3339Nano, w.Engine.Spec.LookRequestedAt)
		got := engine.Decide(w).Status.LookedAt
		if err != nil || w.Seen.Unanswered.Volume || w.Seen.Unanswered.Purges {
			require.Equal(t, w.Engine.Status.LookedAt, got)
			return
		}
		require.Equal(t, w.Engine.Spec.LookRequestedAt, got)
	})
}

func values(m map[string]bool) (out []bool) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
