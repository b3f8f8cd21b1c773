package snapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Every fact of the engine that changes is written, and once.
func TestEachFactOfTheEngineIsMirroredOnce(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*v1beta2.SnapshotInfo)
		shown  func(v1beta2.SnapshotStatus) any
		want   any
	}{
		"its parent": {func(i *v1beta2.SnapshotInfo) { i.Parent = "snap-0" },
			func(s v1beta2.SnapshotStatus) any { return s.Parent }, "snap-0"},
		"what builds on it": {func(i *v1beta2.SnapshotInfo) { i.Children = map[string]bool{"snap-2": true} },
			func(s v1beta2.SnapshotStatus) any { return s.Children }, map[string]bool{"snap-2": true}},
		"its labels": {func(i *v1beta2.SnapshotInfo) { i.Labels = map[string]string{"a": "b"} },
			func(s v1beta2.SnapshotStatus) any { return s.Labels }, map[string]string{"a": "b"}},
		"that it is marked removed": {func(i *v1beta2.SnapshotInfo) { i.Removed = true },
			func(s v1beta2.SnapshotStatus) any { return s.MarkRemoved }, true},
		"that a user made it": {func(i *v1beta2.SnapshotInfo) { i.UserCreated = true },
			func(s v1beta2.SnapshotStatus) any { return s.UserCreated }, true},
		"when it was made": {func(i *v1beta2.SnapshotInfo) { i.Created = "2026-08-01T11:30:00Z" },
			func(s v1beta2.SnapshotStatus) any { return s.CreationTime }, "2026-08-01T11:30:00Z"},
		"its size": {func(i *v1beta2.SnapshotInfo) { i.Size = "43" },
			func(s v1beta2.SnapshotStatus) any { return s.Size }, int64(43)},
		"a size that is no number": {func(i *v1beta2.SnapshotInfo) { i.Size = "42 MiB" },
			func(s v1beta2.SnapshotStatus) any { return s.Size }, int64(0)},
	} {
		t.Run(sentence, func(t *testing.T) {
			w, _ := settled(t, world(taken, listed))
			info := w.Engine.Status.Snapshots["snap-1"]
			c.change(&info)
			w.Engine.Status.Snapshots["snap-1"] = info
			w, steps := settled(t, w)
			require.Equal(t, []Step{StepStatus}, steps)
			require.Equal(t, c.want, c.shown(w.Snapshot.Status))
		})
	}
}

// A v1 engine gives no time of a snapshot that it just made. It is the time at which it was first seen, and does not move.
func TestATimeThatTheEngineDoesNotKnowIsWhenItWasSeenFirst(t *testing.T) {
	timeless := func(w *World) {
		w.Engine.Status.Snapshots["snap-1"] = v1beta2.SnapshotInfo{Name: "snap-1"}
	}
	w, _ := settled(t, world(requested, timeless))
	require.Equal(t, "2026-08-01T12:00:00Z", w.Snapshot.Status.CreationTime)
	w.Now = noon.Add(time.Hour)
	_, steps := settled(t, w)
	require.Empty(t, steps)
}

// What a volume restored from it needs is what the volume had then.
func TestTheRestoreSizeDoesNotGrowWithTheVolume(t *testing.T) {
	w, _ := settled(t, world(taken, listed))
	require.EqualValues(t, 1000, w.Snapshot.Status.RestoreSize)
	w.Volume.Spec.Size = 2000
	_, steps := settled(t, w)
	require.Empty(t, steps)
}

// An engine of an earlier version lists parents alone.
func TestChildrenAreThoseThatNameItAsTheirParent(t *testing.T) {
	w := world(taken, func(w *World) {
		w.Engine.Status.Snapshots["snap-1"] = v1beta2.SnapshotInfo{Name: "snap-1", Created: "2026-08-01T11:00:00Z"}
		w.Engine.Status.Snapshots["snap-2"] = v1beta2.SnapshotInfo{Name: "snap-2", Parent: "snap-1"}
		w.Engine.Status.Snapshots["snap-3"] = v1beta2.SnapshotInfo{Name: "snap-3", Parent: "snap-2"}
		w.Engine.Status.Snapshots[v1beta2.VolumeHead] = v1beta2.SnapshotInfo{Name: v1beta2.VolumeHead, Parent: "snap-1"}
	})
	want := map[string]bool{"snap-2": true, v1beta2.VolumeHead: true}
	require.Equal(t, want, w.ListedChildren())
	require.Equal(t, want, Decide(w).Status.Children)
	require.Nil(t, w.Engine.Status.Snapshots["snap-1"].Children, "the engine's object is of the cache")

	delete(w.Engine.Status.Snapshots, "snap-1")
	require.Nil(t, w.ListedChildren(), "what is not listed has none")
	delete(w.Engine.Status.Snapshots, v1beta2.VolumeHead)
	require.Nil(t, w.ListedChildren(), "nor has anything of a list without the head")
}

// status.error is what CSI reports to a user as a failure; what only takes its time is none.
func TestOnlyWhatIsWrongIsAnError(t *testing.T) {
	for sentence, c := range map[string]struct {
		world World
		wrong bool
	}{
		"ready":                     {world(taken, listed), false},
		"being taken":               {world(), false},
		"waiting for its volume":    {world(detached), false},
		"marked removed":            {world(taken, listed, marked), false},
		"never seen, detached":      {world(system, detached), false},
		"refused by the engine":     {world(requested, failed), true},
		"not in the engine's list":  {world(taken), true},
		"at a limit":                {world(requested, atLimit), true},
		"of a volume that is not":   {world(noOwner, func(w *World) { w.Volume = nil }), true},
		"the head that is none":     {world(func(w *World) { w.Snapshot.Name = v1beta2.VolumeHead }), true},
		"an error that has gone by": {world(taken, listed, func(w *World) { w.Snapshot.Status.Error = "disk on fire" }), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			w, _ := settled(t, c.world)
			ready := conditions.IsTrue(w.Snapshot.Status.Conditions, v1beta2.SnapshotReady)
			require.Equal(t, ready, w.Snapshot.Status.ReadyToUse)
			require.False(t, c.wrong && ready)
			want := ""
			if c.wrong {
				want = conditions.Get(w.Snapshot.Status.Conditions, v1beta2.SnapshotReady).Message
				require.NotEmpty(t, want)
			}
			require.Equal(t, want, w.Snapshot.Status.Error)
		})
	}
}

func TestTheObservedGenerationIsWrittenWithTheNextStatus(t *testing.T) {
	w, _ := settled(t, world(func(w *World) { w.Snapshot.Generation = 3 }))
	require.EqualValues(t, 3, w.Snapshot.Status.ObservedGeneration)
}

// A list that is not known is no list without the snapshot: no fact is changed by it, and nothing ends.
func TestAnUnknownListChangesNoFact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if w.known() {
			return
		}
		v := Decide(w)
		require.NotEqual(t, EndRemoved, v.End)
		require.NotEqual(t, v1beta2.ReasonLost, v.Reason)
		if v.Step != StepStatus {
			return
		}
		old := w.Snapshot.Status
		require.Equal(t, old.Parent, v.Status.Parent)
		require.Equal(t, old.Children, v.Status.Children)
		require.Equal(t, old.Size, v.Status.Size)
		require.Equal(t, old.CreationTime, v.Status.CreationTime)
		require.Equal(t, old.MarkRemoved, v.Status.MarkRemoved)
	})
}

// Nothing else would wake it: a decision that waits for nothing but time says for how long.
func TestTimeAloneChangesNothingBeforeTheTimeThatIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, _ := settled(t, anyWorld(t))
		if w.Snapshot == nil {
			return
		}
		v := Decide(w)
		later := time.Duration(rapid.Int64Range(1, int64(48*time.Hour)).Draw(t, "later"))
		if !v.Enqueue.IsZero() {
			require.True(t, v.Enqueue.After(w.Now))
			later = min(later, v.Enqueue.Sub(w.Now)-1)
		}
		w.Now = w.Now.Add(later)
		again := Decide(w)
		require.Equal(t, StepNone, again.Step)
		require.Equal(t, v.NeedsPlace, again.NeedsPlace)
		require.Equal(t, v.Enqueue, again.Enqueue)
	})
}
