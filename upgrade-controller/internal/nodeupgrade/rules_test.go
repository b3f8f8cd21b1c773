package nodeupgrade_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

func TestAnUpgradeThatIsNewHasItsOwnerAndItsTime(t *testing.T) {
	s := at("", func(s *scene) { s.u.Status, s.m.Spec.Paused = v1beta2.NodeDataEngineUpgradeStatus{}, true })
	v := s.decide()
	require.Equal(t, undefined, v.Status.State)
	require.Equal(t, nodeupgrade.Owner, v.Status.OwnerID)
	require.Equal(t, now.Format(time.RFC3339Nano), v.Status.StartedAt)
	s.u.Status, s.now = v.Status, now.Add(time.Hour)
	require.Equal(t, v.Status, s.decide().Status, "it is started once")
}

// One node at a time: of all upgrades that have not begun, the earliest begins, by time and then by name.
func TestWhichUpgradeIsFirst(t *testing.T) {
	for sentence, c := range map[string]struct {
		state, name string
		after       time.Duration
		first       bool
	}{
		"an earlier one waits, too":           {undefined, "z", -time.Second, false},
		"an earlier one that is new":          {"", "z", -time.Second, false},
		"an earlier one has ended":            {completed, "a", -time.Second, true},
		"a later one waits, too":              {undefined, "a", time.Second, true},
		"a later one has begun":               {initializing, "z", time.Second, false},
		"a later one is rolled back":          {rolling, "z", time.Second, false},
		"one of the same time, first by name": {undefined, "a", 0, false},
		"one of the same time, last by name":  {undefined, "z", 0, true},
		"a state that is newer has begun":     {"dancing", "z", time.Second, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := at(undefined, func(s *scene) {
				o := another("node-2", c.state)
				o.Name, o.CreationTimestamp = c.name, metav1.NewTime(s.u.CreationTimestamp.Add(c.after))
				s.other = append(s.other, another("node-3", completed), o)
			}).decide()
			require.Equal(t, c.first, v.Status.State == initializing)
			require.Equal(t, !c.first, reason(v) == v1beta2.ReasonWaitingForUpgrade)
		})
	}
}

func TestATargetOfAVolumeThatMovedElsewhereHasToLeave(t *testing.T) {
	elsewhere := func(s *scene) {
		s.Volumes["vol"].Spec.NodeID, s.Volumes["vol"].Status.CurrentNodeID = "node-3", "node-3"
	}
	v := at(over, elsewhere).decide()
	require.Equal(t, over, v.Status.State)
	require.Equal(t, v1beta2.VolumeUpgradeMoving, v.Status.Volumes["vol"].State)
	require.Equal(t, "Volume vol: its target leaves the node.", conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message)
	v = at(over, func(s *scene) { elsewhere(s); s.Engines["vol-e-0"].Spec.NodeID = "node-3" }).decide()
	require.Equal(t, detaching, v.Status.State)
}

// What a snapshot fails with is shown for its volume, and is written once.
func TestTheErrorOfASnapshotIsShownForItsVolume(t *testing.T) {
	s := at(initializing, func(s *scene) {
		s.polled()
		s.u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"vol": {State: v1beta2.VolumeUpgradeWaiting, OriginalNodeID: "node-1",
			Snapshot: "snap"}}
		s.Snapshots["snap"] = &v1beta2.Snapshot{Status: v1beta2.SnapshotStatus{Error: "no space"}}
	})
	v := s.decide()
	require.Equal(t, v1beta2.ReasonWaitingForSnapshot, reason(v))
	require.Empty(t, v.Effects, "it is not taken again")
	require.Equal(t, "snapshot snap is not ready: no space", v.Status.Volumes["vol"].Message)
	s.u.Status, s.now = v.Status, now.Add(time.Second)
	require.Equal(t, v.Status, s.decide().Status, "deciding again changes nothing")

	s.Snapshots["snap"].Status.Error = ""
	require.Empty(t, s.decide().Status.Volumes["vol"].Message)
}

// A timeout that a person misspelled must not end an upgrade at once, nor never.
func TestWhichTimeoutCounts(t *testing.T) {
	given := func(text string) *v1beta2.DataEngineUpgradeManager {
		m := &v1beta2.DataEngineUpgradeManager{}
		m.Spec.Timeouts = map[string]v1beta2.StateTimeout{over: v1beta2.StateTimeout(text)}
		return m
	}
	require.Equal(t, 90*time.Second, nodeupgrade.Timeout(given("90s"), over))
	for _, text := range []string{"", "0s", "-1m", "soon", "10"} {
		require.Equal(t, 10*time.Minute, nodeupgrade.Timeout(given(text), over), text)
	}
	require.Equal(t, 10*time.Minute, nodeupgrade.Timeout(nil, over), "of a manager that is gone")
	require.Equal(t, 15*time.Minute, nodeupgrade.Timeout(given("90s"), replacing), "of another state")
	m := &v1beta2.DataEngineUpgradeManager{}
	m.Spec.Timeouts = map[string]v1beta2.StateTimeout{initializing: "3m"}
	for _, state := range []string{"", undefined, initializing} {
		require.Equal(t, 3*time.Minute, nodeupgrade.Timeout(m, state), state)
	}
	for _, state := range append(steps[1:], rolling) {
		require.Positive(t, nodeupgrade.Timeout(nil, state), state)
	}
}

func TestTheReasonOfAFailureStays(t *testing.T) {
	s := at(failed, func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false })
	require.Equal(t, v1beta2.ReasonNodeFailed, reason(s.decide()))
	s.u.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.UpgradeCompleted, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonUpgradeBlocked}}
	require.Equal(t, v1beta2.ReasonUpgradeBlocked, reason(s.decide()))
	s.abort()
	require.Equal(t, v1beta2.ReasonUpgradeBlocked, reason(s.decide()), "what is done to the manager afterwards did not end it")
	s.u.Status.Conditions[0].Reason = v1beta2.ReasonUnfinished
	require.Equal(t, v1beta2.ReasonAborted, reason(s.decide()), "it was not over then")
}

// The first volume by name is reported, and how many wait beside it.
func TestOneVolumeIsNamedAndTheOthersAreCounted(t *testing.T) {
	s := at(over, func(s *scene) {
		for _, name := range []string{"b-vol", "a-vol"} {
			s.AddVolume(name, "node-1", "node-1", "node-2", "node-3")
			s.u.Status.Volumes[name] = s.u.Status.Volumes["vol"]
		}
	})
	v := s.decide()
	message := conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message
	require.Equal(t, "a-vol", v.Status.Volume)
	require.Equal(t, "0/3", v.Status.Progress)
	require.Contains(t, message, "Volume a-vol: ")
	require.Contains(t, message, " 2 more wait.")
}

// How many targets each node has is read only for a decision that may choose a node.
func TestWhenANodeIsChosen(t *testing.T) {
	chooses := func(state string, change func(*scene)) bool {
		s := at(state, change)
		return nodeupgrade.Chooses(s.u, s.Cluster())
	}
	require.True(t, chooses(over, nil), "no node is planned yet")
	require.False(t, chooses(over, func(s *scene) { s.moveTo("node-2") }))
	require.True(t, chooses(over, func(s *scene) { s.moveTo("node-2"); s.down("node-2") }), "the planned one does not serve")
	require.False(t, chooses(over, func(s *scene) {
		s.Volumes["vol"].Spec.NodeID, s.Volumes["vol"].Status.CurrentNodeID = "node-3", "node-3"
	}), "it is not attached here")
	for _, state := range []string{"", undefined, initializing, rebuilding, completed, failed, "dancing"} {
		require.False(t, chooses(over, func(s *scene) { s.u.Status.State = state }), state)
	}
	for _, state := range []string{detaching, replacing, back, rolling} {
		require.True(t, chooses(over, func(s *scene) { s.u.Status.State = state }), state)
	}
}

// A volume's entry states which of the steps it has done.
func TestAVolumesStateFollowsItsSteps(t *testing.T) {
	switchedBack := func(s *scene) {
		s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = "", ""
		s.Engines["vol-e-0"].Spec.NodeID = "node-1"
	}
	elsewhere := func(s *scene) {
		s.Volumes["vol"].Spec.NodeID, s.Volumes["vol"].Status.CurrentNodeID = "node-3", "node-3"
	}
	for sentence, c := range map[string]struct {
		from    string
		change  func(*scene)
		state   string
		message string
	}{
		"its snapshot is ready": {initializing, func(s *scene) {
			s.polled()
			s.u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"vol": {State: v1beta2.VolumeUpgradeWaiting, Snapshot: "snap"}}
			s.Snapshots["snap"] = &v1beta2.Snapshot{Status: v1beta2.SnapshotStatus{ReadyToUse: true}}
		}, v1beta2.VolumeUpgradeReady, ""},
		"its user detached it": {over, func(s *scene) { s.DetachVolume("vol") }, v1beta2.VolumeUpgradeReleased, ""},
		"its user deleted it":  {over, func(s *scene) { delete(s.Volumes, "vol") }, v1beta2.VolumeUpgradeReleased, ""},
		"its target is away":   {over, func(s *scene) { s.moveTo("node-2") }, v1beta2.VolumeUpgradeAway, ""},
		"its target was never here": {over, func(s *scene) { elsewhere(s); s.Engines["vol-e-0"].Spec.NodeID = "node-3" },
			v1beta2.VolumeUpgradeAway, ""},
		"its replica has left":     {detaching, (*scene).takeOut, v1beta2.VolumeUpgradeDetached, ""},
		"it has no replica here":   {detaching, func(s *scene) { delete(s.Replicas, "vol-r-node-1") }, v1beta2.VolumeUpgradeDetached, ""},
		"its target returns":       {back, nil, v1beta2.VolumeUpgradeReturning, ""},
		"its target is back":       {back, switchedBack, v1beta2.VolumeUpgradeHome, ""},
		"it moved with its target": {back, unseen, v1beta2.VolumeUpgradeHome, ""},
		"the node cannot hold it": {back, func(s *scene) { s.down("node-1") }, v1beta2.VolumeUpgradeAway,
			"node node-1 cannot hold its target yet."},
		"the upgrade did not set it": {back, func(s *scene) { s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.TemporaryNodeID = "" }) },
			v1beta2.VolumeUpgradeHome, "Its target stays on the node that spec.targetNodeID names, which this upgrade did not set."},
		"and there is nothing to set": {back, notRelocated, v1beta2.VolumeUpgradeHome, ""},
		"the node is gone": {back, func(s *scene) { delete(s.Nodes, "node-1") }, v1beta2.VolumeUpgradeAway,
			"node node-1, where it is attached, is gone: bring the node back, or detach the volume."},
		"no node can hold it": {over, (*scene).keepFree, v1beta2.VolumeUpgradeMoving, "no other node can hold its target meanwhile: another " +
			"node must be ready and have a running v2 instance manager; left out are "},
		"it is healthy": {rebuilding, func(s *scene) { s.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessHealthy },
			v1beta2.VolumeUpgradeDone, ""},
		"it is rebuilt": {rebuilding, nil, v1beta2.VolumeUpgradeRebuilding, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			x := at(c.from, c.change).decide().Status.Volumes["vol"]
			require.Equal(t, c.state, x.State)
			require.Contains(t, x.Message, c.message)
			require.Equal(t, c.message == "", x.Message == "", x.Message)
		})
	}
}

// The engine may have two snapshots: the upgrade's, and the one of the rebuild.
func TestAnUpgradesOwnSnapshotIsCountedOnce(t *testing.T) {
	s := at(initializing, func(s *scene) {
		s.polled()
		s.u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"vol": {State: v1beta2.VolumeUpgradeWaiting, Snapshot: "snap"}}
		s.Snapshots["snap"] = &v1beta2.Snapshot{ObjectMeta: s.Meta("snap"), Status: v1beta2.SnapshotStatus{ReadyToUse: true}}
		e := s.Engines["vol-e-0"]
		e.Spec.SnapshotMaxCount, e.Status.Snapshots = 2, map[string]v1beta2.SnapshotInfo{"snap": {Name: "snap"}}
	})
	v := s.decide()
	require.Equal(t, over, v.Status.State)
	c := conditions.Get(v.Status.Conditions, v1beta2.UpgradePreflight)
	require.Equal(t, v1beta2.ConditionTrue, c.Status)
	require.Equal(t, "Nothing blocks the upgrade of node node-1.", c.Message)
}

func TestTheEndOfAnUpgradeIsReportedWithItsTime(t *testing.T) {
	s := at(rebuilding, func(s *scene) {
		s.Volumes["vol"].Status.Robustness, s.Nodes["node-1"].Spec.UpgradeRequested = v1beta2.VolumeRobustnessHealthy, false
		s.u.Status.ErrorMessage, s.u.Generation = "It was slow once.", 7
	})
	v := s.decide()
	require.Equal(t, completed, v.Status.State)
	require.Empty(t, v.Status.ErrorMessage)
	require.Equal(t, now.Format(time.RFC3339Nano), v.Status.CompletedAt)
	require.Equal(t, 100, v.Status.Volumes["vol"].Progress)
	require.EqualValues(t, 7, v.Status.ObservedGeneration)
	c := conditions.Get(v.Status.Conditions, v1beta2.UpgradeCompleted)
	require.Equal(t, v1beta2.ConditionTrue, c.Status)
	require.Contains(t, c.Message, "Node node-1 runs the instance manager of "+s.u.Spec.InstanceManagerImage)
	s.u.Status, s.now = v.Status, now.Add(time.Hour)
	again := s.decide()
	require.Equal(t, v.Status.CompletedAt, again.Status.CompletedAt)
	require.Zero(t, again.RequeueAt, "an end has no timeout")
}

func TestARollBackThatGoesForwardLosesItsError(t *testing.T) {
	v := at(rolling, func(s *scene) { s.takeOut(); s.replace() }).decide()
	require.Equal(t, back, v.Status.State)
	require.Empty(t, v.Status.ErrorMessage)
	require.Equal(t, now.Format(time.RFC3339Nano), v.Status.StateSince)
}

func TestARollBackStatesItsReason(t *testing.T) {
	for why, s := range map[string]*scene{
		"DataEngineUpgradeManager upgrade was aborted.": at(over, (*scene).abort),
		"DataEngineUpgradeManager upgrade was deleted.": at(over, func(s *scene) { s.m.DeletionTimestamp = &metav1.Time{Time: now} }),
		"This NodeDataEngineUpgrade was deleted.":       at(over, (*scene).delete),
		"Node node-1 does not exist any more.":          at(replacing, func(s *scene) { delete(s.Nodes, "node-1") }),
		"Rolled back from state switching-over after 10m0s. Volume vol: no other node can hold its target meanwhile": at(over,
			func(s *scene) { s.keepFree(); s.late() }),
	} {
		v := s.decide()
		require.Equal(t, rolling, v.Status.State)
		require.Contains(t, v.Status.ErrorMessage, why)
	}
}

// Steps of less than ten per cent are written once a tenth of the timeout is over: status.volumes is large.
func TestASmallStepOfARebuildIsWrittenOnlyAfterAWhile(t *testing.T) {
	for before, c := range map[time.Duration]struct {
		known, want int
	}{
		2 * time.Minute: {81, 81}, 4 * time.Minute: {81, 82}, time.Second: {72, 82}, 3 * time.Minute: {73, 73},
	} {
		s := at(rebuilding, func(s *scene) {
			r, e := s.Replicas["vol-r-node-1"], s.Engines["vol-e-0"]
			e.Spec.ReplicaAddressMap[r.Name], e.Status.ReplicaModeMap[r.Name] = "10.0.0.1:1", v1beta2.ReplicaModeWO
			e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://10.0.0.1:1": {IsRebuilding: true, Progress: 47}}
			s.late()
			s.Nodes["node-1"].Spec.UpgradeRequested = false
			s.u.Status.ProgressedAt = now.Add(-before).Format(time.RFC3339Nano)
			s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.Progress = c.known })
		})
		v := s.decide()
		require.Equal(t, c.want, v.Status.Volumes["vol"].Progress, "%s ago, from %d %%", before, c.known)
		require.Contains(t, v.Status.Progress, fmt.Sprintf("0/1 %d%%", c.want))
	}
}

// The finalizer stays until the last snapshot is being deleted, also without the manager whose setting would keep it.
func TestAnUpgradeIsReleasedAfterItsSnapshots(t *testing.T) {
	s := at(over, func(s *scene) {
		s.u.Status.State, s.m = failed, nil
		s.Nodes["node-1"].Spec.UpgradeRequested = false
		s.delete()
	})
	v := s.decide()
	require.Equal(t, effects(nodeupgrade.Effect{Kind: nodeupgrade.DropSnapshot, Name: "snap", Volume: "vol"}), v.Effects)
	require.False(t, v.DropFinalizer)
	s.Snapshots["snap"].DeletionTimestamp = &metav1.Time{Time: now}
	v = s.decide()
	require.Empty(t, v.Effects)
	require.True(t, v.DropFinalizer)
	s.u.DeletionTimestamp = nil
	require.False(t, s.decide().DropFinalizer, "nobody deleted it")
}

// A snapshot whose data a clone shares cannot be deleted: it stays, is reported, and keeps no finalizer.
func TestASnapshotThatClonesShareStaysAndKeepsNoFinalizer(t *testing.T) {
	for _, state := range []string{completed, failed} {
		s := at(over, func(s *scene) {
			s.u.Status.State, s.u.Status.ErrorMessage = state, ""
			s.Nodes["node-1"].Spec.UpgradeRequested = false
			s.clone = map[string][]string{"snap": {"clone-1", "clone-2"}}
		})
		v := s.decide()
		require.Empty(t, v.Effects)
		require.Contains(t, v.Kept, "snap (clone-1, clone-2)")
		require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message, v.Kept)
		require.NotContains(t, v.Status.ErrorMessage, v.Kept)
		s.delete()
		v = s.decide()
		require.True(t, v.DropFinalizer)
		require.NotEmpty(t, v.Kept)
		s.clone = nil
		v = s.decide()
		require.Empty(t, v.Kept)
		require.Equal(t, effects(nodeupgrade.Effect{Kind: nodeupgrade.DropSnapshot, Name: "snap", Volume: "vol"}), v.Effects)
		s.m.Spec.KeepSnapshots = true
		require.Empty(t, s.decide().Effects)
	}
}

// An upgrade of another node, or one that has not begun, cordoned nothing here.
func TestANodeIsUncordonedUnlessAnotherUpgradeHasIt(t *testing.T) {
	for _, other := range []*v1beta2.NodeDataEngineUpgrade{another("node-2", over), another("node-1", undefined), another("node-1", failed),
		another("node-1", "")} {
		s := at(rebuilding, func(s *scene) { s.other = append(s.other, other) })
		require.Equal(t, effects(opens), s.decide().Effects, "%s of %s", other.Status.State, other.Spec.NodeID)
	}
}

func TestANodeThatSomebodyUncordonedIsCordonedAgainOnTheWayBack(t *testing.T) {
	v := at(back, func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false }).decide()
	require.Equal(t, effects(closes, sends("")), v.Effects)
}

// The name is stored in one pass and used in the next, so that no crash leaves a snapshot that nobody knows.
func TestASnapshotHasItsNameBeforeItIsTaken(t *testing.T) {
	s := at(initializing, (*scene).polled)
	v := s.decide()
	require.Empty(t, v.Effects)
	x := v.Status.Volumes["vol"]
	require.Regexp(t, "^upgrade-[0-9a-f]{16}$", x.Snapshot)
	require.Equal(t, "node-1", x.OriginalNodeID, "its target was here")
	s.u.Status = v.Status
	require.Equal(t, effects(nodeupgrade.Effect{Kind: nodeupgrade.TakeSnapshot, Name: x.Snapshot, Volume: "vol"}), s.decide().Effects)
	next := at(initializing, (*scene).polled)
	next.u.UID = "the next upgrade"
	require.NotEqual(t, x.Snapshot, next.decide().Status.Volumes["vol"].Snapshot)
}

// Snapshots of volumes whose engines were not polled since the node was cordoned may be of a volume that is not here any more.
func TestNoTargetMovesBeforeEveryEngineWasPolled(t *testing.T) {
	v := at(initializing, func(s *scene) {
		s.u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"vol": {State: v1beta2.VolumeUpgradeReady, Snapshot: "snap"}}
	}).decide()
	require.Equal(t, initializing, v.Status.State)
	require.Equal(t, effects(asks), v.Effects)
}

func TestWhatAnUpgradeWaitsForIsAFullSentence(t *testing.T) {
	for sentence, s := range map[string]*scene{
		"Node node-1 is being cordoned for new volumes.": at(over, func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false }),
		"Node node-1 is being uncordoned.": at(rebuilding, func(s *scene) {
			s.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessHealthy
		}),
		"Node node-1 is still cordoned by an earlier upgrade whose object is gone: its targets are switched back and it is uncordoned " +
			"first.": at(undefined, func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = true }),
		"Node node-1 is detaching-replicas.": at(over, func(s *scene) { s.moveTo("node-2") }),
		"It burned.":                         at(failed, nil),
	} {
		v := s.decide()
		require.Equal(t, sentence, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message)
		require.Equal(t, v1beta2.ReasonInTime, conditions.Reason(v.Status.Conditions, v1beta2.UpgradeStalled))
		c := conditions.Get(v.Status.Conditions, v1beta2.UpgradeCompleted)
		require.Equal(t, v1beta2.ConditionFalse, c.Status)
		require.Equal(t, s.u.Status.State == failed, c.Message == "It burned.", c.Message)
	}
}

// What was counted and waited for in one state is not shown in the next.
func TestAStateBeginsWithoutTheProgressOfTheOneBefore(t *testing.T) {
	v := at(over, func(s *scene) { s.moveTo("node-2"); s.u.Status.Furthest, s.u.Status.Volume = 1, "vol" }).decide()
	require.Equal(t, detaching, v.Status.State)
	require.Zero(t, v.Status.Furthest)
	require.Empty(t, v.Status.Volume)
	require.Empty(t, v.Status.Progress)
	v = at(back, func(s *scene) { s.DetachVolume("vol"); s.u.Status.ProgressedAt = now.Format(time.RFC3339Nano) }).decide()
	require.Equal(t, rebuilding, v.Status.State)
	require.Empty(t, v.Status.ProgressedAt, "no rebuild has progressed yet")
}

func TestTheTimeOfAnUpgradeRunsOnceItsTurnHasCome(t *testing.T) {
	s := at(undefined, func(s *scene) { s.other = append(s.other, another("node-2", back)); s.late() })
	v := s.decide()
	require.Empty(t, v.Status.StateSince)
	require.Zero(t, v.RequeueAt)
	s.u.Status, s.other = v.Status, nil
	s.down("node-1")
	v = s.decide()
	require.Equal(t, now.Format(time.RFC3339Nano), v.Status.StateSince)
	require.Equal(t, undefined, v.Status.State)
}

// A volume that appears late, a person who uncordons the node and a temporary node that dies are handled in every step.
func TestEachStepChecksAgainWhatEarlierStepsChecked(t *testing.T) {
	late := func(s *scene) {
		s.AddVolume("late", "node-2", "node-2", "node-3")
		s.Replicas["late-r-node-3"].Spec.NodeID = "node-1"
	}
	for _, state := range []string{over, detaching, replacing} {
		v := at(state, late).decide()
		require.Equal(t, v1beta2.VolumeUpgradeWaiting, v.Status.Volumes["late"].State, state)
		require.NotEmpty(t, v.Status.Volumes["late"].Snapshot, state)
	}
	v := at(replacing, func(s *scene) {
		s.replace()
		s.disk(v1beta2.ConditionFalse, nil)
		s.down("node-2")
		s.Nodes["node-1"].Spec.UpgradeRequested = false
	}).decide()
	require.Equal(t, effects(closes), v.Effects)
	require.Equal(t, "node-3", v.Status.Volumes["vol"].TemporaryNodeID)
	v = at(back, func(s *scene) {
		s.Volumes["vol"].Spec.NodeID, s.Volumes["vol"].Status.CurrentNodeID = "node-3", "node-3"
	}).decide()
	require.Equal(t, effects(sends("")), v.Effects, "its user attached it elsewhere meanwhile")
}
