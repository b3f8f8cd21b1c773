package enginesnapshot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
)

var names = []string{"a", "b", "c", enginesnapshot.Head}

// anyWorld is a poll of an arbitrary engine.
func anyWorld(t *rapid.T) enginesnapshot.World {
	flag := rapid.Bool()
	w := world()
	w.Active, w.Alone, w.RW = flag.Draw(t, "active"), flag.Draw(t, "alone"), flag.Draw(t, "rw")
	w.V2, w.Rebuilding, w.Busy, w.Purging = flag.Draw(t, "v2"), flag.Draw(t, "rebuilding"), flag.Draw(t, "busy"), flag.Draw(t, "purging")
	w.VolumeUID = rapid.SampledFrom([]string{"", "uid-1", "uid-1", "uid-2"}).Draw(t, "uid")
	w.PurgeError = rapid.SampledFrom([]string{"", "disk on fire"}).Draw(t, "purge error")
	w.Limits.Count = rapid.IntRange(0, 3).Draw(t, "most")
	w.FencingDelayEnds = moment(t, "post-election delay")
	if flag.Draw(t, "no head") {
		delete(w.Listed, enginesnapshot.Head)
	}
	for _, name := range names[:3] {
		if flag.Draw(t, "listed") {
			lists(name, under(rapid.SliceOfDistinct(rapid.SampledFrom(names), func(s string) string { return s }).Draw(t, "children")...),
				func(i *v1beta2.SnapshotInfo) {
					i.Removed, i.UserCreated = flag.Draw(t, "removed"), flag.Draw(t, "user")
				})(&w)
		}
	}
	for _, name := range names {
		if flag.Draw(t, "object") {
			w.Snapshots = append(w.Snapshots, anyObject(t, name))
		}
	}
	w.Memory = anyMemory(t)
	return w
}

func anyObject(t *rapid.T, name string) enginesnapshot.Snapshot {
	flag := rapid.Bool()
	s := enginesnapshot.Snapshot{Name: name, Owner: rapid.SampledFrom([]string{"", "uid-1", "uid-1", "uid-2"}).Draw(t, "owner"),
		Create: flag.Draw(t, "create"), Seen: flag.Draw(t, "seen"), Deleting: flag.Draw(t, "deleting"), Approved: flag.Draw(t, "approved")}
	if flag.Draw(t, "requested") {
		s.Requested = moment(t, "request")
	}
	provisioned(v1beta2.ConditionFalse, rapid.SampledFrom([]string{v1beta2.ReasonFailed, v1beta2.ReasonCancelled}).Draw(t, "reason"))(&s)
	if flag.Draw(t, "provisioned") {
		provisioned(v1beta2.ConditionTrue, v1beta2.ReasonTaken)(&s)
	} else if flag.Draw(t, "no condition") {
		s.Provisioned = nil
	}
	if flag.Draw(t, "unremoved") {
		unremoved(&s)
	}
	s.Since = moment(t, "since")
	if rapid.IntRange(0, 5).Draw(t, "withdrawn") == 0 {
		withdrawn(&s)
	}
	return s
}

func anyMemory(t *rapid.T) enginesnapshot.Memory {
	times := func(label string) map[string]time.Time {
		out := map[string]time.Time{}
		for _, name := range names {
			if rapid.Bool().Draw(t, label) {
				out[name] = moment(t, label)
			}
		}
		return out
	}
	return enginesnapshot.Memory{Polled: rapid.Bool().Draw(t, "polled"), Missing: times("missing"), Strange: times("strange"),
		Open:    times("open"),
		Removed: times("removed"), Purged: times("purged"), TakeAfter: times("after"), Deleting: rapid.IntRange(0, 4).Draw(t, "n"),
		Grown:     moment(t, "grown"),
		Gathering: moment(t, "gathering"), RemoveAfter: moment(t, "remove after")}
}

func moment(t *rapid.T, label string) time.Time {
	return now.Add(time.Duration(rapid.IntRange(-20, 20).Draw(t, label)) * time.Second)
}

func TestDecideIsDeterministicWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		first := enginesnapshot.Decide(w)
		w.Snapshots = rapid.Permutation(w.Snapshots).Draw(t, "order")
		require.Equal(t, first, enginesnapshot.Decide(w))
	})
}

// SNP-1, SNP-2 hold in every world.
func TestOnlyRequestedSnapshotsAreChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := enginesnapshot.Decide(w)
		objects := map[string]enginesnapshot.Snapshot{}
		for _, s := range w.Snapshots {
			objects[s.Name] = s
		}
		if !enginesnapshot.Whole(w) {
			require.Empty(t, len(v.Changes)+len(v.Mirror)+len(v.Take)+len(v.Remove))
			require.False(t, v.Purge)
		}
		for _, name := range v.Take {
			s := objects[name]
			require.True(t, s.Create && !s.Requested.IsZero() && !s.Deleting && s.Owner == w.VolumeUID && w.Alone)
			require.NotContains(t, w.Listed, name)
		}
		for _, name := range v.Remove {
			s := objects[name]
			require.True(t, s.Deleting && s.Approved && s.Owner == w.VolumeUID && w.Alone && !w.Rebuilding && !w.Purging)
			require.NotEqual(t, enginesnapshot.Head, name)
		}
		for _, name := range v.Mirror {
			require.NotContains(t, objects, name)
			require.NotEqual(t, enginesnapshot.Head, name)
		}
		for _, c := range v.Changes {
			require.Equal(t, w.VolumeUID, objects[c.Name].Owner)
			require.False(t, c.Condition.Type == v1beta2.SnapshotWithdrawn && objects[c.Name].Create && !objects[c.Name].Seen &&
				objects[c.Name].Provisioned == nil,
				"what was not taken yet is never withdrawn")
			_, listed := w.Listed[c.Name]
			require.False(t, c.Condition.Type == v1beta2.SnapshotWithdrawn && listed)
		}
	})
}

// After a verdict is executed, the next verdict requires nothing more except what waits.
func TestDecideIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := enginesnapshot.Decide(w)
		if len(v.Take)+len(v.Remove) > 0 || v.Purge {
			return // a call changes the engine: the next poll is another one
		}
		w.Memory = v.Memory
		for i := range w.Snapshots {
			for _, c := range v.Changes {
				if c.Name != w.Snapshots[i].Name {
					continue
				}
				c.Condition.LastProbeTime = now.Format(time.RFC3339Nano)
				switch s := &w.Snapshots[i]; c.Condition.Type {
				case v1beta2.SnapshotWithdrawn:
					s.Withdrawn = &c.Condition
				case v1beta2.SnapshotRemovalFailed:
					s.RemovalFailed = &c.Condition
				default:
					s.Provisioned = &c.Condition
				}
			}
		}
		for _, name := range v.Mirror {
			w.Snapshots = append(w.Snapshots, enginesnapshot.Snapshot{Name: name, Owner: w.VolumeUID})
		}
		again := enginesnapshot.Decide(w)
		require.Empty(t, again.Mirror)
		require.Empty(t, reasons(again))
	})
}
