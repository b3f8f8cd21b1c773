package nodeupgrade_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

const (
	undefined    = v1beta2.UpgradeStateUndefined
	initializing = v1beta2.UpgradeStateInitializing
	over         = v1beta2.UpgradeStateSwitchingOver
	detaching    = v1beta2.UpgradeStateDetachingReplicas
	replacing    = v1beta2.UpgradeStateUpgradingInstanceManager
	back         = v1beta2.UpgradeStateSwitchingBack
	rebuilding   = v1beta2.UpgradeStateRebuildingReplica
	rolling      = v1beta2.UpgradeStateRollingBack
	completed    = v1beta2.UpgradeStateCompleted
	failed       = v1beta2.UpgradeStateError
)

type row struct {
	from    string
	change  func(*scene)
	to      string
	reason  string
	effects []nodeupgrade.Effect
	stalled bool
}

func run(t *testing.T, table map[string]row) {
	for name, r := range table {
		t.Run(name, func(t *testing.T) {
			v := at(r.from, r.change).decide()
			require.False(t, v.Confirm)
			require.Equal(t, r.to, v.Status.State, v.Status.ErrorMessage)
			if r.reason != "" {
				require.Equal(t, r.reason, reason(v))
			}
			require.Equal(t, r.effects, v.Effects)
			require.Equal(t, r.stalled, stalled(v))
		})
	}
}

// another is the upgrade of a node by another manager.
func another(node, state string) *v1beta2.NodeDataEngineUpgrade {
	u := &v1beta2.NodeDataEngineUpgrade{Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: node},
		Status: v1beta2.NodeDataEngineUpgradeStatus{State: state}}
	u.Name = "another-" + node
	return u
}

func effects(list ...nodeupgrade.Effect) []nodeupgrade.Effect { return list }

var (
	closes = nodeupgrade.Effect{Kind: nodeupgrade.CloseNode, Name: "node-1"}
	opens  = nodeupgrade.Effect{Kind: nodeupgrade.OpenNode, Name: "node-1"}
	asks   = nodeupgrade.Effect{Kind: nodeupgrade.RequestPoll, Name: "vol-e-0", Volume: "vol", At: now}
)

func sends(node string) nodeupgrade.Effect {
	return nodeupgrade.Effect{Kind: nodeupgrade.SetTarget, Name: "vol", Volume: "vol", Node: node}
}

func TestUndefinedTouchesNothing(t *testing.T) {
	run(t, map[string]row{
		"no other upgrade is earlier": {from: undefined, to: initializing},
		"aborted":                     {from: undefined, change: (*scene).abort, to: failed, reason: v1beta2.ReasonAborted},
		"deleted":                     {from: undefined, change: (*scene).delete, to: failed, reason: v1beta2.ReasonAborted},
		"its manager is gone":         {from: undefined, change: func(s *scene) { s.m = nil }, to: failed, reason: v1beta2.ReasonAborted},
		"paused": {from: undefined, change: func(s *scene) { s.m.Spec.Paused = true }, to: undefined,
			reason: v1beta2.ReasonPaused},
		"an unknown data engine": {from: undefined, change: func(s *scene) { s.u.Spec.DataEngine = "v3" }, to: undefined,
			reason: v1beta2.ReasonNotUnderstood},
		"already upgraded": {from: undefined, change: (*scene).replace, to: completed, reason: v1beta2.ReasonCompleted},
		"something stands in front": {from: undefined, change: func(s *scene) { s.down("node-1") }, to: undefined,
			reason: v1beta2.ReasonUpgradeBlocked},
		"and does not go away": {from: undefined, change: func(s *scene) { s.down("node-1"); s.late() }, to: failed,
			reason: v1beta2.ReasonUpgradeBlocked},
		"another node is under way": {from: undefined, change: func(s *scene) {
			s.other = append(s.other, another("node-2", back))
		}, to: undefined, reason: v1beta2.ReasonWaitingForUpgrade},
		"another node has ended": {from: undefined, change: func(s *scene) {
			s.other = append(s.other, another("node-2", failed))
		}, to: initializing},
	})
}

func TestTheTimeOfAPausedUpgradeDoesNotRun(t *testing.T) {
	s := at(undefined, func(s *scene) { s.m.Spec.Paused = true; s.late() })
	v := s.decide()
	require.False(t, stalled(v))
	s.u.Status, s.m.Spec.Paused = v.Status, false
	s.down("node-2")
	s.down("node-3")
	v = s.decide()
	require.Equal(t, undefined, v.Status.State, "it has its whole time before it")
}

func TestInitializing(t *testing.T) {
	waiting := func(s *scene) {
		s.Nodes["node-1"].Spec.UpgradeRequested = true
		s.u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"vol": {State: v1beta2.VolumeUpgradeWaiting, OriginalNodeID: "node-1",
			Snapshot: "snap"}}
		s.polled()
	}
	take := nodeupgrade.Effect{Kind: nodeupgrade.TakeSnapshot, Name: "snap", Volume: "vol"}
	run(t, map[string]row{
		"the node is closed first": {from: initializing, change: func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false },
			to:     initializing,
			reason: v1beta2.ReasonTakingNode, effects: effects(closes)},
		"then every engine is checked": {from: initializing, to: initializing, reason: v1beta2.ReasonWaitingForLook,
			effects: effects(asks)},
		"which is asked for once": {from: initializing, change: func(s *scene) {
			s.Engines["vol-e-0"].Spec.LookRequestedAt = now.Format(time.RFC3339Nano)
		}, to: initializing, reason: v1beta2.ReasonWaitingForLook},
		"then a snapshot gets a name": {from: initializing, change: (*scene).polled, to: initializing,
			reason: v1beta2.ReasonWaitingForSnapshot},
		"and is taken": {from: initializing, change: waiting, to: initializing,
			reason: v1beta2.ReasonWaitingForSnapshot, effects: effects(take)},
		"a snapshot that never gets ready": {from: initializing, change: func(s *scene) { waiting(s); s.late() }, to: rolling},
		"something new stands against it": {from: initializing,
			change: func(s *scene) { waiting(s); s.Volumes["vol"].Spec.MigrationNodeID = "node-2" }, to: initializing,
			reason: v1beta2.ReasonUpgradeBlocked},
		"and does not go away": {from: initializing,
			change: func(s *scene) { waiting(s); s.late(); s.Volumes["vol"].Spec.MigrationNodeID = "node-2" }, to: rolling},
		"aborted": {from: initializing, change: (*scene).abort, to: rolling},
		"all is ready": {from: initializing, change: func(s *scene) {
			waiting(s)
			s.Snapshots["snap"] = &v1beta2.Snapshot{Status: v1beta2.SnapshotStatus{ReadyToUse: true}}
		}, to: over},
		"nothing is on the node": {from: initializing, change: func(s *scene) {
			s.DetachVolume("vol")
			s.Nodes["node-1"].Spec.UpgradeRequested = true
		}, to: over},
	})
}

func TestSwitchingOver(t *testing.T) {
	planned := func(node string) func(*scene) {
		return func(s *scene) { s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.TemporaryNodeID = node }) }
	}
	run(t, map[string]row{
		"the temporary node is written down before anything moves": {from: over, to: over, reason: v1beta2.ReasonWaitingForTarget},
		"then the target is sent": {from: over, change: planned("node-2"), to: over,
			reason: v1beta2.ReasonWaitingForTarget, effects: effects(sends("node-2"))},
		"it is there": {from: over, change: func(s *scene) { s.moveTo("node-2") },
			to: detaching},
		"the old engine is still there": {from: over, change: func(s *scene) {
			s.moveTo("node-2")
			old := s.Engines["vol-e-0"].DeepCopy()
			old.Name, old.Spec.NodeID, old.Spec.Active = "vol-e-9", "node-1", false
			s.Engines[old.Name] = old
		}, to: over, reason: v1beta2.ReasonWaitingForTarget},
		"the temporary node died": {from: over, change: func(s *scene) { planned("node-2")(s); s.down("node-2") }, to: over,
			reason: v1beta2.ReasonWaitingForTarget},
		"no node can hold it": {from: over, change: func(s *scene) { s.down("node-2"); s.down("node-3") }, to: over,
			reason: v1beta2.ReasonWaitingForTemporaryNode},
		"every other node is kept free": {from: over, change: (*scene).keepFree, to: over, reason: v1beta2.ReasonWaitingForTemporaryNode},
		"the temporary node died before the target went there, and the other one is kept free": {from: over,
			change: func(s *scene) { planned("node-2")(s); s.keepFree(); s.down("node-2") },
			to:     over, reason: v1beta2.ReasonWaitingForTemporaryNode},
		"the temporary node died under the target, and the other one is kept free": {from: over, change: func(s *scene) {
			planned("node-2")(s)
			s.moveTo("node-2")
			s.keepFree()
			s.down("node-2")
		}, to: over, reason: v1beta2.ReasonWaitingForTarget},
		"no node can hold it for too long": {from: over, change: func(s *scene) { s.down("node-2"); s.down("node-3"); s.late() },
			to: rolling},
		"it never moves":       {from: over, change: func(s *scene) { planned("node-2")(s); s.late() }, to: rolling},
		"aborted":              {from: over, change: (*scene).abort, to: rolling},
		"deleted":              {from: over, change: (*scene).delete, to: rolling},
		"its user detached it": {from: over, change: func(s *scene) { s.DetachVolume("vol") }, to: detaching},
		"its user detached it on its way": {from: over, change: func(s *scene) { s.moveTo("node-2"); s.DetachVolume("vol") }, to: detaching,
			effects: effects(sends(""))},
		"its user attached it elsewhere": {from: over, change: func(s *scene) {
			s.moveTo("node-2")
			s.Volumes["vol"].Spec.NodeID, s.Volumes["vol"].Status.CurrentNodeID = "node-2", "node-2"
		}, to: detaching, effects: effects(sends(""))},
		"a volume that came late has its snapshot first": {from: over, change: func(s *scene) {
			s.moveTo("node-2")
			s.AddVolume("late", "node-2", "node-2", "node-3")
			s.Replicas["late-r-node-3"].Spec.NodeID = "node-1"
		}, to: over, reason: v1beta2.ReasonWaitingForSnapshot},
	})
}

func TestANewTemporaryNodeIsChosenWhenTheFirstDied(t *testing.T) {
	v := at(over, func(s *scene) { s.moveTo("node-2"); s.down("node-2") }).decide()
	require.Equal(t, "node-3", v.Status.Volumes["vol"].TemporaryNodeID)
}

// Two targets do not both go where there is least, because each counts what is on its way.
func TestTargetsThatAreOnTheirWayCountWhereTheyGo(t *testing.T) {
	s := at(over, func(s *scene) {
		s.AddVolume("wol", "node-1", "node-1", "node-2", "node-3")
		s.u.Status.Volumes["wol"] = s.u.Status.Volumes["vol"]
	})
	v := s.decide()
	require.Equal(t, "node-2", v.Status.Volumes["vol"].TemporaryNodeID)
	require.Equal(t, "node-3", v.Status.Volumes["wol"].TemporaryNodeID)
}

func TestDetachingReplicas(t *testing.T) {
	listed := func(s *scene) { s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.Replica = "vol-r-node-1" }) }
	lonely := func(s *scene) {
		for _, name := range []string{"vol-r-node-2", "vol-r-node-3"} {
			s.Engines["vol-e-0"].Status.ReplicaModeMap[name] = v1beta2.ReplicaModeERR
		}
	}
	run(t, map[string]row{
		"a newer poll comes first": {from: detaching, to: detaching, reason: v1beta2.ReasonWaitingForLook, effects: effects(asks)},
		"then the replica is listed": {from: detaching, change: (*scene).polled, to: detaching,
			reason: v1beta2.ReasonDetachingReplica},
		"the last copy is not": {from: detaching, change: func(s *scene) { s.polled(); lonely(s) }, to: detaching,
			reason: v1beta2.ReasonWaitingForHealthyCopy},
		"the last copy for too long": {from: detaching, change: func(s *scene) { s.polled(); lonely(s); s.late() }, to: rolling},
		"it has not left":            {from: detaching, change: listed, to: detaching, reason: v1beta2.ReasonDetachingReplica},
		"it has left but still runs": {from: detaching, change: func(s *scene) {
			s.takeOut()
			s.Replicas["vol-r-node-1"].Status.CurrentState = v1beta2.InstanceStateStopping
		}, to: detaching, reason: v1beta2.ReasonDetachingReplica},
		"it never leaves": {from: detaching, change: func(s *scene) { listed(s); s.late() }, to: rolling},
		"it has left":     {from: detaching, change: (*scene).takeOut, to: replacing},
		"aborted":         {from: detaching, change: func(s *scene) { s.takeOut(); s.abort() }, to: rolling},
		"the temporary node died meanwhile": {from: detaching, change: func(s *scene) { s.takeOut(); s.down("node-2") }, to: detaching,
			reason: v1beta2.ReasonWaitingForTarget},
		"a volume that came late is led around it, too": {from: detaching, change: func(s *scene) {
			s.takeOut()
			s.AddVolume("late", "node-2", "node-2", "node-3")
			s.Replicas["late-r-node-3"].Spec.NodeID = "node-1"
		}, to: detaching, reason: v1beta2.ReasonWaitingForSnapshot},
		"its user detached it": {from: detaching, change: func(s *scene) { s.DetachVolume("vol") }, to: replacing,
			effects: effects(sends(""))},
		"nothing of it is on the node": {from: detaching, change: func(s *scene) { s.Replicas["vol-r-node-1"].Spec.NodeID = "node-3" },
			to: replacing},
	})
}

// UPG-1: the listing is what attach-controller acts on.
func TestAListingNeedsAHealthyCopyElsewhereAndIsTakenBackWithoutOne(t *testing.T) {
	s := at(detaching, (*scene).polled)
	require.Equal(t, "vol-r-node-1", s.decide().Status.Volumes["vol"].Replica)
	s.stale = true
	require.Equal(t, nodeupgrade.Verdict{ConfirmVolumes: []string{"vol"}}, s.decide(), "never on reads of the cache")
	w := s.world()
	w.FreshVolumes = map[string]bool{"vol": true}
	require.Equal(t, "vol-r-node-1", nodeupgrade.Decide(w).Status.Volumes["vol"].Replica, "what is of the volume is enough")
	s.stale = false
	s.u.Status = s.decide().Status
	for _, name := range []string{"vol-r-node-2", "vol-r-node-3"} {
		s.Engines["vol-e-0"].Status.ReplicaModeMap[name] = v1beta2.ReplicaModeERR
	}
	v := s.decide()
	require.Empty(t, v.Status.Volumes["vol"].Replica)
	require.Equal(t, v1beta2.ReasonWaitingForHealthyCopy, reason(v))
}

func TestTheInstanceManagerToReplaceIsNamedWithTheState(t *testing.T) {
	s := at(detaching, (*scene).takeOut)
	s.u.Status.OldInstanceManager = nil
	v := s.decide()
	require.Equal(t, replacing, v.Status.State)
	require.Equal(t, &v1beta2.InstanceManagerReference{Name: s.manager(model.OldImage).Name, UID: string(s.manager(model.OldImage).UID)},
		v.Status.OldInstanceManager)
	s.stale = true
	require.True(t, s.decide().Confirm, "never on reads of the cache")
}

func TestUpgradingInstanceManager(t *testing.T) {
	begun := func(s *scene) { s.manager(model.OldImage).Status.CurrentState = v1beta2.InstanceManagerStateError }
	gone := func(s *scene) { delete(s.Managers, s.manager(model.OldImage).Name) }
	run(t, map[string]row{
		"the old one runs":    {from: replacing, to: replacing, reason: v1beta2.ReasonWaitingForInstanceManager},
		"the new one answers": {from: replacing, change: (*scene).replace, to: back},
		"the new one runs but does not answer": {from: replacing,
			change: func(s *scene) { s.replace(); s.manager(model.NewImage).Status.APIVersion = 0 }, to: replacing},
		"its disk is not ready": {from: replacing, change: func(s *scene) { s.replace(); s.disk(v1beta2.ConditionFalse, nil) },
			to:     replacing,
			reason: v1beta2.ReasonWaitingForDisk},
		"its disk is being loaded": {from: replacing, change: func(s *scene) {
			s.replace()
			s.disk(v1beta2.ConditionTrue, &v1beta2.DiskLoad{State: v1beta2.DiskLoadCreating})
		}, to: replacing, reason: v1beta2.ReasonWaitingForDisk},
		"its disk was loaded by the old one, whose clock is ahead": {from: replacing, change: func(s *scene) {
			s.replace()
			s.loaded(model.OldImage, now.Add(time.Hour))
		}, to: replacing, reason: v1beta2.ReasonWaitingForDisk},
		"its disk was loaded by the new one, whose clock is behind": {from: replacing, change: func(s *scene) {
			s.replace()
			s.loaded(model.NewImage, now.Add(-time.Hour))
		}, to: back},
		"a disk that never held anything is not waited for": {from: replacing, change: func(s *scene) {
			s.replace()
			s.disk(v1beta2.ConditionFalse, nil)
			d := s.Nodes["node-1"].Status.DiskStatus["disk-1"]
			d.DiskUUID = ""
			s.Nodes["node-1"].Status.DiskStatus["disk-1"] = d
		}, to: back},
		"both are there": {from: replacing, change: func(s *scene) {
			fresh := s.manager(model.NewImage)
			fresh.Status.CurrentState, fresh.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 7
			begun(s)
		}, to: replacing},
		"aborted before it was replaced": {from: replacing, change: (*scene).abort, to: rolling},
		"a target on its way keeps no abort": {from: replacing, change: func(s *scene) {
			s.Volumes["vol"].Spec.TargetNodeID = ""
			s.abort()
		}, to: rolling},
		"too slow before it was replaced": {from: replacing, change: (*scene).late, to: rolling},
		"aborted after its pod was taken": {from: replacing, change: func(s *scene) { begun(s); s.abort() }, to: replacing,
			reason: v1beta2.ReasonWaitingForInstanceManager},
		"aborted after it was replaced": {from: replacing, change: func(s *scene) { gone(s); s.abort() }, to: replacing,
			reason: v1beta2.ReasonWaitingForInstanceManager},
		"too slow after it was replaced": {from: replacing, change: func(s *scene) { gone(s); s.late() }, to: replacing,
			reason: v1beta2.ReasonWaitingForInstanceManager, stalled: true},
		"the temporary node died": {from: replacing, change: func(s *scene) { gone(s); s.down("node-2") }, to: replacing,
			reason: v1beta2.ReasonWaitingForTarget},
		"the node was opened by somebody": {from: replacing, change: func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false },
			to: replacing, effects: effects(closes)},
	})
}

func TestAnotherInstanceManagerInTheOldOnesPlaceIsFollowed(t *testing.T) {
	s := at(replacing, nil)
	s.manager(model.OldImage).UID = "another"
	require.Equal(t, "another", s.decide().Status.OldInstanceManager.UID)
}

func TestSwitchingBack(t *testing.T) {
	run(t, map[string]row{
		"the target is switched back": {from: back, to: back, reason: v1beta2.ReasonWaitingForTarget, effects: effects(sends(""))},
		"the node cannot hold it yet": {from: back, change: func(s *scene) { s.down("node-1") }, to: back,
			reason: v1beta2.ReasonWaitingForInstanceManager},
		"it was switched back": {from: back, change: func(s *scene) {
			s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = "", ""
			s.Engines["vol-e-0"].Spec.NodeID = "node-1"
		}, to: rebuilding},
		"the engine elsewhere has not ended": {from: back, change: func(s *scene) {
			s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = "", ""
			elsewhere := s.Engines["vol-e-0"].DeepCopy()
			elsewhere.Name, elsewhere.Spec.Active = "vol-e-9", false
			s.Engines[elsewhere.Name] = elsewhere
			s.Engines["vol-e-0"].Spec.NodeID = "node-1"
		}, to: back, reason: v1beta2.ReasonWaitingForTarget},
		"it cannot be switched back": {from: back, change: (*scene).late, to: back, reason: v1beta2.ReasonWaitingForTarget,
			effects: effects(sends("")), stalled: true},
		"there is no way back": {from: back, change: func(s *scene) { s.abort(); s.delete() }, to: back, effects: effects(sends(""))},
		"its user detached it": {from: back, change: func(s *scene) { s.DetachVolume("vol") }, to: rebuilding, effects: effects(sends(""))},
	})
}

func TestRebuildingReplica(t *testing.T) {
	whole := func(s *scene) {
		s.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessHealthy
		s.Nodes["node-1"].Spec.UpgradeRequested = false
	}
	reported := func(s *scene) { s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.Progress = 100 }) }
	open := func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false; reported(s) }
	run(t, map[string]row{
		"the node is opened at once": {from: rebuilding, to: rebuilding, effects: effects(opens)},
		"the volume is not whole":    {from: rebuilding, change: open, to: rebuilding, reason: v1beta2.ReasonWaitingForRebuild},
		"it is":                      {from: rebuilding, change: whole, to: completed, reason: v1beta2.ReasonCompleted},
		"it is, and the node is not open yet": {from: rebuilding, change: func(s *scene) {
			s.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessHealthy
		}, to: rebuilding, effects: effects(opens)},
		"it never gets so": {from: rebuilding, change: func(s *scene) { open(s); s.late() }, to: failed, reason: v1beta2.ReasonNodeFailed},
		"it continues, however slowly": {from: rebuilding, change: func(s *scene) {
			open(s)
			s.late()
			s.u.Status.ProgressedAt = now.Add(-time.Minute).Format(time.RFC3339Nano)
		}, to: rebuilding},
		"its user detached it":    {from: rebuilding, change: func(s *scene) { open(s); s.DetachVolume("vol") }, to: completed},
		"aborting comes too late": {from: rebuilding, change: func(s *scene) { whole(s); s.abort() }, to: completed},
		"the node is never left closed": {from: rebuilding, change: func(s *scene) { s.late(); reported(s) }, to: rebuilding,
			effects: effects(opens), stalled: true},
	})
}

func TestTheProgressOfARebuildIsTold(t *testing.T) {
	s := at(rebuilding, func(s *scene) {
		s.Nodes["node-1"].Spec.UpgradeRequested = false
		r, e := s.Replicas["vol-r-node-1"], s.Engines["vol-e-0"]
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
		e.Spec.ReplicaAddressMap[r.Name], e.Status.ReplicaModeMap[r.Name] = "10.0.0.1:1", v1beta2.ReplicaModeWO
		e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://10.0.0.1:1": {IsRebuilding: true, Progress: 47}}
	})
	v := s.decide()
	require.Equal(t, 82, v.Status.Volumes["vol"].Progress, "two replicas are whole, one is rebuilt to 47 %")
	require.Equal(t, now.Format(time.RFC3339Nano), v.Status.ProgressedAt)
}

// A per cent of a large volume takes a while; a replica that is rebuilt on another node counts as one on this.
func TestASlowRebuildIsNoStall(t *testing.T) {
	s := at(rebuilding, func(s *scene) {
		s.Nodes["node-1"].Spec.UpgradeRequested = false
		s.late()
		r, e := s.Replicas["vol-r-node-2"], s.Engines["vol-e-0"]
		e.Spec.ReplicaAddressMap[r.Name], e.Status.ReplicaModeMap[r.Name] = "10.0.0.2:1", v1beta2.ReplicaModeWO
		e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://10.0.0.2:1": {IsRebuilding: true, Progress: 7}}
		s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.Progress = 34 })
	})
	v := s.decide()
	require.Equal(t, rebuilding, v.Status.State)
	require.Equal(t, 35, v.Status.Volumes["vol"].Progress)
	s.u.Status = v.Status
	again := s.decide()
	require.Equal(t, v.Status.ProgressedAt, again.Status.ProgressedAt)
}

// rebuildingFrom is a node whose replica is rebuilt to so many per cent, and what decides after a time in which more was done.
func rebuildingFrom(percent int) (*scene, func(percent int, after time.Duration) nodeupgrade.Verdict) {
	s := at(rebuilding, func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = false; s.rebuilding("node-1", percent) })
	pass := func(percent int, after time.Duration) nodeupgrade.Verdict {
		s.rebuilding("node-1", percent)
		s.now = s.now.Add(after)
		v := s.decide()
		s.u.Status = v.Status
		return v
	}
	pass(percent, 0)
	return s, pass
}

// Of three replicas two are whole: the progress of all in per cent grows once per three per cent of the third.
func TestEachPerCentOfASlowRebuildIsProgress(t *testing.T) {
	s, pass := rebuildingFrom(46)
	for progress := 47; progress < 60; progress++ {
		require.Equal(t, rebuilding, pass(progress, 29*time.Minute).Status.State, "%d %%", progress)
	}
	require.Equal(t, 86, s.u.Status.Volumes["vol"].Progress)
	require.Equal(t, rebuilding, pass(59, 29*time.Minute).Status.State)
	require.Equal(t, failed, pass(59, 2*time.Minute).Status.State, "nothing has gone on since")
}

// Engines report whole per cents: at 10 MB/s one of a volume of 2 TiB takes 37 minutes. Only volumes that are not whole count.
func TestARebuildOfALargeVolumeMayShowNoProgressForLonger(t *testing.T) {
	s, pass := rebuildingFrom(46)
	s.Volumes["vol"].Spec.Size = 2 << 40
	for progress := 47; progress < 60; progress++ {
		require.Equal(t, rebuilding, pass(progress-1, 30*time.Minute).Status.State, "%d %%", progress)
		require.Equal(t, rebuilding, pass(progress, 7*time.Minute).Status.State, "%d %%", progress)
	}
	v := pass(59, 6*time.Hour)
	require.Equal(t, rebuilding, v.Status.State)
	require.False(t, conditions.IsTrue(v.Status.Conditions, v1beta2.UpgradeStalled))
	v = pass(59, 10*time.Minute)
	require.Equal(t, failed, v.Status.State, "it hangs")
	require.Contains(t, v.Status.ErrorMessage, "no rebuild progressed for 6h6m30s")
}

// A previous version stored no sum: what its quotient leaves open is no progress.
func TestTheProgressThatAPreviousVersionStoredCounts(t *testing.T) {
	s := at(rebuilding, func(s *scene) {
		s.Nodes["node-1"].Spec.UpgradeRequested = false
		s.late()
		s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.Progress = 82 })
	})
	s.rebuilding("node-1", 46)
	require.Equal(t, failed, s.decide().Status.State, "246 / 3 = 82")
	s.rebuilding("node-1", 47)
	v := s.decide()
	require.Equal(t, rebuilding, v.Status.State)
	require.Equal(t, 82, v.Status.Volumes["vol"].Progress)
}

// However many volumes a node has: as long as one after the other does its step, nothing is rolled back.
func TestTimeRunsFromTheLastVolumeThatDidItsStep(t *testing.T) {
	s := at(over, func(s *scene) {
		s.moveTo("node-2")
		s.AddVolume("wol", "node-1", "node-1", "node-2", "node-3")
		s.u.Status.Volumes["wol"] = v1beta2.VolumeUpgradeStatus{State: v1beta2.VolumeUpgradeReady, OriginalNodeID: "node-1",
			Snapshot: "snap"}
		s.late()
	})
	v := s.decide()
	require.Equal(t, over, v.Status.State, "vol is away since it was checked last")
	require.Equal(t, "1/2", v.Status.Progress)
	require.Equal(t, now.Format(time.RFC3339Nano), v.Status.ProgressedAt)
	s.u.Status.Furthest, s.u.Status.ProgressedAt = 1, ""
	require.Equal(t, rolling, s.decide().Status.State, "nothing has gone on since")
}

// A volume that was detached after its step does not hide the steps of the others, and its end is no further progress.
func TestADetachedVolumeHidesNoProgress(t *testing.T) {
	s := at(over, func(s *scene) {
		for _, name := range []string{"wol", "xol"} {
			s.AddVolume(name, "node-1", "node-1", "node-2", "node-3")
			s.u.Status.Volumes[name] = v1beta2.VolumeUpgradeStatus{State: v1beta2.VolumeUpgradeReady, OriginalNodeID: "node-1",
				Snapshot: "snap"}
		}
		s.moveTo("node-2")
		s.late()
	})
	s.u.Status = s.decide().Status
	s.DetachVolume("vol")
	s.now = s.now.Add(9 * time.Minute)
	s.u.Status = s.decide().Status
	x := s.u.Status.Volumes["wol"]
	x.TemporaryNodeID, x.State = "node-2", v1beta2.VolumeUpgradeAway
	s.u.Status.Volumes["wol"] = x
	s.Volumes["wol"].Spec.TargetNodeID, s.Volumes["wol"].Status.CurrentTargetNodeID = "node-2", "node-2"
	s.Engines["wol-e-0"].Spec.NodeID = "node-2"
	s.now = s.now.Add(2 * time.Minute)
	v := s.decide()
	require.Equal(t, over, v.Status.State, "wol did its step 2 minutes ago at most")
	require.Equal(t, s.now.Format(time.RFC3339Nano), v.Status.ProgressedAt)
	s.u.Status = v.Status
	s.DetachVolume("wol")
	s.now = s.now.Add(11 * time.Minute)
	require.Equal(t, rolling, s.decide().Status.State)
}

func TestRollingBack(t *testing.T) {
	run(t, map[string]row{
		"the target is switched back": {from: rolling, to: rolling, reason: v1beta2.ReasonWaitingForTarget, effects: effects(sends(""))},
		"not while nothing runs there": {from: rolling,
			change: func(s *scene) { s.manager(model.OldImage).Status.CurrentState = v1beta2.InstanceManagerStateError }, to: rolling,
			reason: v1beta2.ReasonWaitingForInstanceManager},
		"it was replaced after all": {from: rolling, change: func(s *scene) {
			s.takeOut()
			s.replace()
		}, to: back},
	})
	t.Run("a target that somebody else wishes elsewhere is left alone, and holds nothing up", func(t *testing.T) {
		s := at(rolling, func(s *scene) { s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.TemporaryNodeID = "" }) })
		require.Equal(t, effects(opens), s.decide().Effects)
		s.Nodes["node-1"].Spec.UpgradeRequested = false
		v := s.decide()
		require.Equal(t, failed, v.Status.State)
		require.Empty(t, v.Effects)
	})
	s := at(initializing, func(s *scene) {
		s.u.Status.State, s.u.Status.ErrorMessage = rolling, "It burned."
		s.Nodes["node-1"].Spec.UpgradeRequested = true
	})
	v := s.decide()
	require.Equal(t, effects(opens), v.Effects)
	require.Equal(t, rolling, v.Status.State)
	s.Nodes["node-1"].Spec.UpgradeRequested = false
	v = s.decide()
	require.Equal(t, failed, v.Status.State)
	require.Equal(t, "It burned.", v.Status.ErrorMessage)
}

func TestTheEndLeavesNothingBehind(t *testing.T) {
	drop := nodeupgrade.Effect{Kind: nodeupgrade.DropSnapshot, Name: "snap", Volume: "vol"}
	s := at(over, func(s *scene) { s.u.Status.State = completed })
	require.Equal(t, effects(opens, drop), s.decide().Effects)
	s.m.Spec.KeepSnapshots = true
	require.Equal(t, effects(opens), s.decide().Effects)
	s.delete()
	require.False(t, s.decide().DropFinalizer)
	s.Nodes["node-1"].Spec.UpgradeRequested = false
	require.True(t, s.decide().DropFinalizer)
	t.Run("a snapshot that the cache does not show may only just have been ordered", func(t *testing.T) {
		s := at(over, func(s *scene) { s.u.Status.State = completed })
		s.Nodes["node-1"].Spec.UpgradeRequested = false
		s.delete()
		s.Snapshots, s.stale = nil, true
		v := s.decide()
		require.True(t, v.Confirm)
		require.False(t, v.DropFinalizer)
		s.stale = false
		require.True(t, s.decide().DropFinalizer)
	})
	t.Run("a node that another upgrade has by now is not opened", func(t *testing.T) {
		s := at(over, func(s *scene) {
			s.u.Status.State = failed
			s.m.Spec.KeepSnapshots = true
			s.other = append(s.other, another("node-1", over))
		})
		require.Empty(t, s.decide().Effects)
	})
}

func TestAStateWakesExactlyWhenItTakesTooLong(t *testing.T) {
	s := at(over, nil)
	require.Equal(t, now.Add(9*time.Minute), s.decide().RequeueAt)
	s.m.Spec.Timeouts = map[string]v1beta2.StateTimeout{over: "90s"}
	require.Equal(t, now.Add(30*time.Second), s.decide().RequeueAt)
	s.m.Spec.Timeouts[over] = "60s"
	require.Equal(t, rolling, s.decide().Status.State)
}

func TestAStateThatNobodyKnowsIsLeftAlone(t *testing.T) {
	s := at(over, func(s *scene) { s.u.Status.State = "dancing" })
	require.Equal(t, nodeupgrade.Verdict{Status: s.u.Status}, s.decide())
}

func TestNothingIrrevocableIsDecidedOnReadsOfTheCache(t *testing.T) {
	for name, s := range map[string]*scene{
		"begin": at(undefined, nil), "give the node to im-monitor": at(detaching, (*scene).takeOut),
		"switch over is done": at(over, func(s *scene) { s.moveTo("node-2") }), "open the node": at(rebuilding, nil),
		"roll back while the instance manager may go": at(replacing, (*scene).abort),
	} {
		s.stale = true
		require.Equal(t, nodeupgrade.Verdict{Confirm: true}, s.decide(), name)
	}
}

// Of several volumes whose replicas are to be listed, those that were read uncached are listed together, and the others are asked for at
// once.
func TestReplicasAreListedTogether(t *testing.T) {
	names := []string{"vol", "vol-2", "vol-3"}
	s := at(detaching, func(s *scene) {
		s.polled()
		s.Nodes["node-1"].Spec.UpgradeRequested = false // they were attached before
		defer func() { s.Nodes["node-1"].Spec.UpgradeRequested = true }()
		for _, name := range names[1:] {
			s.AddVolume(name, "node-2", "node-1", "node-2", "node-3")
			s.Engines[name+"-e-0"].Status.LookedAt = now.Format(time.RFC3339Nano)
			s.u.Status.Volumes[name] = v1beta2.VolumeUpgradeStatus{State: v1beta2.VolumeUpgradeAway}
		}
		s.stale = true
	})
	require.Equal(t, nodeupgrade.Verdict{ConfirmVolumes: names}, s.decide())
	w := s.world()
	w.FreshVolumes = map[string]bool{"vol": true, "vol-3": true}
	v := nodeupgrade.Decide(w)
	require.Equal(t, "vol-r-node-1", v.Status.Volumes["vol"].Replica)
	require.Empty(t, v.Status.Volumes["vol-2"].Replica)
	require.Equal(t, "vol-3-r-node-1", v.Status.Volumes["vol-3"].Replica)
	require.Equal(t, names[1:2], v.ConfirmVolumes)
	require.Equal(t, now, v.RequeueAt)
	w.FreshVolumes["vol-2"] = true
	require.Empty(t, nodeupgrade.Decide(w).ConfirmVolumes)
}

// An entry of status.volumes is small: a node has hundreds of them, and each write of the status is sent to everybody who follows it.
func TestAVolumesEntryRepeatsNothingThatItsStateStates(t *testing.T) {
	degraded := func(s *scene) {
		s.Nodes["node-1"].Spec.UpgradeRequested, s.Volumes["vol"].Status.Robustness = false, v1beta2.VolumeRobustnessDegraded
	}
	for state, s := range map[string]*scene{over: at(over, nil), detaching: at(detaching, nil), rebuilding: at(rebuilding, degraded)} {
		v := s.decide()
		require.NotEqual(t, v1beta2.VolumeUpgradeDone, v.Status.Volumes["vol"].State, state)
		require.Empty(t, v.Status.Volumes["vol"].Message, state)
		require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message, "Volume vol: ", state)
	}
	s := at(over, (*scene).keepFree)
	require.Contains(t, s.decide().Status.Volumes["vol"].Message, "no other node can hold its target meanwhile")
}

func TestConditionsTellHowItIs(t *testing.T) {
	v := at(over, nil).decide()
	require.True(t, conditions.IsTrue(v.Status.Conditions, v1beta2.UpgradeProgressing))
	require.Equal(t, v1beta2.ReasonUnfinished, conditions.Reason(v.Status.Conditions, v1beta2.UpgradeCompleted))
}
