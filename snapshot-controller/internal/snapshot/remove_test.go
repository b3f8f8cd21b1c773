package snapshot

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// A reason that stands against a removal: its sentence names the object, and the next step.
func TestWhatStandsAgainstARemovalIsNamed(t *testing.T) {
	removing := func(changes ...func(*World)) World {
		return world(append([]func(*World){taken, listed, deleted, granted}, changes...)...)
	}
	for sentence, c := range map[string]struct {
		world  World
		reason string
		names  string
	}{
		"linked clones, by name": {removing(func(w *World) { w.Clones = []string{"c-1", "c-2"} }), v1beta2.ReasonLinkedClone, "c-1, c-2"},
		"backups, by name":       {removing(func(w *World) { w.Backups = []string{"b-1", "b-2"} }), v1beta2.ReasonBackingUp, "b-1, b-2"},
		"a migration that was begun by the other side": {removing(
			func(w *World) { w.Volume.Status.CurrentMigrationNodeID = "node-2" }), v1beta2.ReasonMigrating, "vol-1"},
		"an upgrade of the engine's node": {removing(func(w *World) {
			w.Nodes = []*v1beta2.Node{{Spec: v1beta2.NodeSpec{UpgradeRequested: true}}}
		}), v1beta2.ReasonUpgrading, "vol-1"},
		"an upgrade of a replica's node": {removing(v2, func(w *World) {
			w.Nodes = []*v1beta2.Node{{}, {Spec: v1beta2.NodeSpec{UpgradeRequested: true}}}
		}), v1beta2.ReasonUpgrading, "vol-1"},
		"a rebuild among whole replicas": {removing(func(w *World) {
			w.Engine.Status.ReplicaModeMap = map[string]string{"a": v1beta2.ReplicaModeRW, "b": v1beta2.ReplicaModeWO}
		}), v1beta2.ReasonRebuilding, "vol-1"},
		"the number of its children": {removing(forked, v2, func(w *World) {
			w.Engine.Status.Snapshots["snap-1"].Children["c"] = true
		}), v1beta2.ReasonHasMultipleChildren, "3 parts"},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.reason, v.Reason)
			require.Contains(t, v.Message, c.names)
			require.False(t, v.Holds, "others purge meanwhile")
		})
	}
	for sentence, w := range map[string]World{
		"a node that is not upgraded": removing(func(w *World) { w.Nodes = []*v1beta2.Node{{}} }),
		"a rebuild that is over": removing(func(w *World) {
			w.Engine.Status.ReplicaModeMap = map[string]string{"a": v1beta2.ReplicaModeRW, "b": v1beta2.ReplicaModeERR}
		}),
		"a chain in v2": removing(v2),
	} {
		require.Equal(t, v1beta2.ReasonRequested, Decide(w).Reason, sentence)
	}
}

// The modes of an engine that does not run are of its last run.
func TestARebuildOfAStoppedEngineHoldsNothing(t *testing.T) {
	require.True(t, Decide(world(taken, deleted, detached, rebuilding)).NeedsPlace)
}

// Of a detached volume the chain is what was stored. It may be that of an earlier poll, but attaching would not help what it shows.
func TestTheChainOfADetachedVolume(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*World)
		reason string
	}{
		"marked removed with the head on it": {func(w *World) {
			w.Snapshot.Status.MarkRemoved, w.Snapshot.Status.Children = true, map[string]bool{v1beta2.VolumeHead: true}
		}, v1beta2.ReasonParentOfVolumeHead},
		"marked removed with two on it": {func(w *World) {
			w.Snapshot.Status.MarkRemoved, w.Above = true, []string{"a", "b"}
		}, v1beta2.ReasonHasMultipleChildren},
		"marked removed with one on it": {func(w *World) {
			w.Snapshot.Status.MarkRemoved, w.Above = true, []string{"a"}
		}, ""},
		"two on it that have no Snapshots, as the refusal stored": {func(w *World) {
			v2(w)
			unnamed(w)
			condition(v1beta2.SnapshotRemovalApproved, v1beta2.ConditionFalse, v1beta2.ReasonHasMultipleChildren)(w)
		}, v1beta2.ReasonHasMultipleChildren},
		"the same without a refusal, which may be long ago": {func(w *World) { v2(w); unnamed(w) }, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(world(taken, deleted, detached, c.change))
			require.Equal(t, c.reason, v.Reason)
			require.Equal(t, c.reason == "", v.NeedsPlace)
		})
	}
}

// An engine's list that lacks it has no children of it, whatever was stored.
func TestWhatTheEngineDoesNotListHasNoChildren(t *testing.T) {
	w := world(taken, deleted, granted, v2, mirrored)
	require.Equal(t, v1beta2.ReasonRequested, Decide(w).Reason)
}

func TestOneThatWaitedForAVolumeThatNeverCameEnds(t *testing.T) {
	w := world(noOwner, deleted, func(w *World) { w.Volume, w.Attachment, w.Engine = nil, nil, nil })
	v := Decide(w)
	require.Equal(t, StepDropFinalizer, v.Step)
	require.Equal(t, EndVolumeGone, v.End)
	require.True(t, v.Confirm, "a volume's absence is seen uncached")
}

// An approval without a time is of another writer, and no failure follows it.
func TestAnApprovalWithoutATimeIsNoFailedOne(t *testing.T) {
	w := world(taken, listed, deleted, granted, unremovedAgo(time.Minute, 0))
	require.Equal(t, v1beta2.ReasonRemovalFailed, Decide(w).Reason)
	w.Snapshot.Status.Conditions[0].LastTransitionTime = "yesterday"
	v := Decide(w)
	require.Equal(t, v1beta2.ReasonRequested, v.Reason)
	require.True(t, v.Holds)
}

func TestARemovalFailureWithoutATimeIsNone(t *testing.T) {
	w := world(taken, listed, deleted, granted, unremovedAgo(time.Minute, 0))
	failure := &w.Snapshot.Status.Conditions[1]
	failure.LastProbeTime = ""
	require.Equal(t, v1beta2.ReasonRequested, Decide(w).Reason)
	failure.LastProbeTime, failure.Status = text(noon), v1beta2.ConditionFalse
	require.Equal(t, v1beta2.ReasonRequested, Decide(w).Reason, "it is over")
}

// The pause is as long as it has failed, within its limits.
func TestThePauseAfterAFailure(t *testing.T) {
	for sentence, c := range map[string]struct{ failing, want time.Duration }{
		"the first failure":          {0, pauseShortest},
		"a clock that was set back":  {-time.Hour, pauseShortest},
		"just below the shortest":    {pauseShortest - time.Millisecond, pauseShortest},
		"between its limits":         {time.Minute + 300*time.Millisecond, time.Minute},
		"just at the longest":        {pauseLongest, pauseLongest},
		"longer than the longest":    {pauseLongest + time.Second, pauseLongest},
		"for longer than a day even": {48 * time.Hour, pauseLongest},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.want, failure{at: noon, first: noon.Add(-c.failing)}.pause())
		})
	}
	f, known := failureOf(&v1beta2.Condition{LastProbeTime: text(noon), Message: "disk on fire."})
	require.True(t, known)
	require.Equal(t, failure{at: noon, first: noon, message: "disk on fire"}, f, "without a first time it is the first failure")
	_, known = failureOf(nil)
	require.False(t, known)
}

// What follows a failure is later than it by both clocks, and a transition time has whole seconds only.
func TestWhatFollowsAFailureIsLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "now")))
		f := failure{at: noon.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "failed")))}
		require.True(t, f.after(now).After(f.at))
		require.False(t, f.after(now).Before(now))
		next := f.nextSecond(now)
		require.True(t, next.Truncate(time.Second).After(f.at))
		require.False(t, next.Truncate(time.Second).Before(now.Truncate(time.Second)))
	})
}

func TestAfterADayOfRefusalsAPersonDecides(t *testing.T) {
	v := Decide(world(refusedAgo(time.Hour, takingPatience)))
	require.Equal(t, "The engine did not take it: disk on fire. Delete this Snapshot and create another one.", v.Message)
	require.Zero(t, v.Enqueue)
	require.NotContains(t, Decide(world(refusedAgo(time.Minute, takingPatience-time.Second))).Message, "create another one")
	w := world(refusedAgo(time.Hour, takingPatience))
	w.Snapshot.Status.Conditions[0].Message = ""
	require.Equal(t, "The engine did not take it. Delete this Snapshot and create another one.", Decide(w).Message)
}

// Every order of blockers, clones and backups gives the same: nothing is approved while anything stands against it.
func TestNothingIsApprovedWhileAnythingStandsAgainstIt(t *testing.T) {
	against := []func(*World){
		rebuilding, copied, func(w *World) { w.Clones = []string{"c"} }, func(w *World) { w.Settings.PurgeDisabled = true },
		func(w *World) { w.Volume.Spec.MigrationNodeID = "node-2" }, func(w *World) { w.Volume.Spec.TargetNodeID = "node-2" },
		func(w *World) { v2(w); forked(w) }, func(w *World) { marked(w) },
		func(w *World) { w.Nodes = []*v1beta2.Node{{Spec: v1beta2.NodeSpec{UpgradeRequested: true}}} },
	}
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, len(against)-1), 1, -1, rapid.ID).Draw(t, "against")
		build := func(order []int) World {
			w := world(taken, listed, deleted, granted)
			for _, i := range order {
				against[i](&w)
			}
			return w
		}
		v := Decide(build(chosen))
		require.False(t, v.Holds)
		require.False(t, conditions.IsTrue(v.Status.Conditions, v1beta2.SnapshotRemovalApproved))
		slices.Reverse(chosen)
		require.Equal(t, v, Decide(build(chosen)))
	})
}
