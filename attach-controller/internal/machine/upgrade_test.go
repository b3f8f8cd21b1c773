package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// upgrades is a volume on x whose node is being upgraded, with the target on y and its replica there to be taken out.
func upgrades(t require.TestingT, state string) *fixture {
	s := moved(t, "x", "y", "z")
	s.Nodes["x"] = Node{Known: true, Upgrading: true}
	s.Upgrades = []Upgrade{{Node: "x", State: state, Image: "new", Listed: true, Replica: "vol-r-0", Original: "x"}}
	return s
}

func TestAReplicaIsTakenOutOfARunningEngineForAnUpgrade(t *testing.T) {
	for _, state := range []string{v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager,
		v1beta2.UpgradeStateSwitchingBack} {
		s := upgrades(t, state)
		if state == v1beta2.UpgradeStateSwitchingBack {
			s.Volume.Spec.TargetNodeID = "" // the move comes first, over what the engine has
		}
		for n := 0; s.Replicas[0].Spec.FailedAt == ""; n++ {
			verdict := Decide(s.World)
			if one := findWrite(verdict, s.Replicas[0]); one != nil && one.Spec["failedAt"] != nil {
				require.Equal(t, StageMark, one.Stage, "it counts as failed before the engine continues without it")
				require.True(t, verdict.Fresh)
			}
			require.Less(t, n, 30, "%s", s)
			s.step()
			s.imMonitor()
		}
		watched(t, s)
		require.NotContains(t, s.Engines[0].Spec.ReplicaAddressMap, "vol-r-0")
		require.Len(t, s.Engines[0].Spec.ReplicaAddressMap, 2)
		require.Equal(t, v1beta2.InstanceStateStopped, s.Replicas[0].Spec.DesireState, "%s", s)
		require.False(t, s.step())
	}
}

// UPG-1: the replica lacks later writes, so it is failed by then; and only a fresh poll shows which replicas are RW.
func TestAReplicaIsFailedBeforeTheEngineContinuesWithoutIt(t *testing.T) {
	s := upgrades(t, v1beta2.UpgradeStateDetachingReplicas)
	s.Engines[0].Spec.LookRequestedAt, s.Engines[0].Status.LookedAt = "", ""
	verdict := Decide(s.World)
	untouched(t, verdict, s.Replicas[0])
	require.NotNil(t, writeOf(t, verdict, s.Engines[0]).Spec["lookRequestedAt"], "it is polled first")
	for n := 0; ; n++ {
		require.Less(t, n, 30, "%s", s)
		verdict := Decide(s.World)
		if one := findWrite(verdict, s.Engines[0]); one != nil && one.Spec["replicaAddressMap"] != nil {
			failing := findWrite(verdict, s.Replicas[0])
			require.True(t, s.Replicas[0].Spec.FailedAt != "" || failing != nil && failing.Spec["failedAt"] != nil &&
				failing.Stage < one.Stage, "%s", s)
			return
		}
		s.step()
		s.imMonitor()
	}
}

func TestAReplicaStaysInOtherStatesOfAnUpgrade(t *testing.T) {
	for _, state := range []string{"", v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver,
		v1beta2.UpgradeStateRebuildingReplica,
		v1beta2.UpgradeStateRollingBack, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError} {
		s := upgrades(t, state)
		watched(t, s)
		require.Empty(t, s.Replicas[0].Spec.FailedAt, state)
	}
	s := upgrades(t, v1beta2.UpgradeStateDetachingReplicas)
	s.Upgrades[0].Replica = ""
	watched(t, s)
	require.Empty(t, s.Replicas[0].Spec.FailedAt, "one that is not listed")
}

// UPG-1.
func TestTheLastGoodReplicaIsNeverTakenOut(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"the others were dropped": func(s *fixture) {
			s.Engines[0].Status.ReplicaModeMap["vol-r-1"], s.Engines[0].Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeERR,
				v1beta2.ReplicaModeERR
		},
		"one failed, the other is being rebuilt": func(s *fixture) {
			s.Replicas[1].Spec.FailedAt, s.Replicas[2].Spec.HealthyAt = stamp(s.Now), ""
			s.Engines[0].Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeWO
		},
		"the others' nodes are down": func(s *fixture) {
			s.Volume.Spec.TargetNodeID = "" // it switched back meanwhile
			s.settle()
			s.Nodes["y"], s.Nodes["z"] = Node{Known: true, Down: true}, Node{Known: true, Down: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := upgrades(t, v1beta2.UpgradeStateSwitchingOver)
			happens(s)
			s.Upgrades[0].State = v1beta2.UpgradeStateDetachingReplicas
			for range 10 {
				s.step()
				require.Empty(t, s.Replicas[0].Spec.FailedAt, "%s", s)
				require.Contains(t, s.Engines[0].Spec.ReplicaAddressMap, "vol-r-0")
			}
			require.Contains(t, conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeAttached).Message, "it is the last RW one")
		})
	}
}

// UPG-1, whatever else is lost while it is taken out: once a replica was good, one stays good.
func TestAnUpgradeLeavesAGoodReplica(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := upgrades(t, v1beta2.UpgradeStateDetachingReplicas)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				r := s.Replicas[rapid.IntRange(1, 2).Draw(t, "lost")]
				s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
			case 1:
				s.Now = s.Now.Add(pollAge)
			case 2, 3:
				s.imMonitor()
			default:
				s.step()
			}
			good := 0
			for _, r := range s.Replicas {
				if r.Spec.FailedAt == "" {
					good++
				}
			}
			require.Positive(t, good, "%s", s)
		}
	})
}

func TestNothingStartsOnTheNodeOfAnUpgrade(t *testing.T) {
	s := upgrades(t, v1beta2.UpgradeStateUpgradingInstanceManager)
	require.True(t, s.settle())
	s.Replicas[0].Spec.FailedAt, s.Replicas[0].Spec.HealthyAt = "", "" // somebody took it back
	s.step()
	require.NotEmpty(t, s.Replicas[0].Spec.FailedAt)
	require.Equal(t, v1beta2.InstanceStateStopped, s.Replicas[0].Spec.DesireState)
}

// No new engine but the switch-back's.
func TestNoTargetSwitchesBackWhileTheInstanceManagerIsReplaced(t *testing.T) {
	for state, comes := range map[string]bool{
		v1beta2.UpgradeStateDetachingReplicas: false, v1beta2.UpgradeStateUpgradingInstanceManager: false,
		v1beta2.UpgradeStateSwitchingBack: true, v1beta2.UpgradeStateRollingBack: true,
	} {
		s := upgrades(t, state)
		s.Volume.Spec.TargetNodeID = ""
		watched(t, s)
		require.Equal(t, comes, s.Volume.Status.CurrentTargetNodeID == "", "%s: %s", state, s)
	}
}

func TestTheNewImageIsRecordedOnceTheTargetSwitchedBack(t *testing.T) {
	s := upgrades(t, v1beta2.UpgradeStateSwitchingBack)
	s.settle()
	require.Equal(t, "image", s.Volume.Spec.Image, "not before")
	s.Volume.Spec.TargetNodeID = ""
	watched(t, s)
	require.Equal(t, "new", s.Volume.Spec.Image)
	require.Equal(t, "new", s.Volume.Status.CurrentImage)
	elsewhere := upgrades(t, v1beta2.UpgradeStateSwitchingBack)
	elsewhere.Upgrades[0].Original = "" // only a replica is there
	elsewhere.Volume.Spec.TargetNodeID = ""
	watched(t, elsewhere)
	require.Equal(t, "image", elsewhere.Volume.Spec.Image)
}

// A volume that is attached again meanwhile does without its replica on the node, if it can.
func TestAVolumeOpensWithoutItsReplicaOnTheNodeOfAnUpgrade(t *testing.T) {
	for _, replicas := range [][]string{{"x", "y"}, {"x"}} {
		s := attached(v1beta2.DataEngineV2, replicas...)
		s.Volume.Spec.NodeID = ""
		require.True(t, s.settle())
		s.Upgrades = []Upgrade{{Node: "x", State: v1beta2.UpgradeStateUpgradingInstanceManager}}
		s.Volume.Spec.NodeID = "y"
		s.settle()
		require.Equal(t, "y", s.Volume.Status.CurrentNodeID)
		require.Equal(t, len(replicas) > 1, s.Replicas[0].Spec.FailedAt != "", "the volume waits for the last RW one")
	}
}

// The whole way around a node, and the time that it takes.
func TestAVolumeGoesAroundANodeThatIsUpgraded(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y", "z")
	s.Nodes["x"] = Node{Known: true, Upgrading: true}
	s.Upgrades = []Upgrade{{Node: "x", State: v1beta2.UpgradeStateSwitchingOver, Image: "new", Listed: true, Replica: "vol-r-0",
		Original: "x"}}
	u := &s.Upgrades[0]
	s.Volume.Spec.TargetNodeID = "y"
	watched(t, s)
	u.State = v1beta2.UpgradeStateDetachingReplicas
	watched(t, s)
	u.State = v1beta2.UpgradeStateUpgradingInstanceManager
	watched(t, s)
	s.Volume.Spec.TargetNodeID, u.State = "", v1beta2.UpgradeStateSwitchingBack
	watched(t, s)
	oneEngine(t, s, "vol-e-2", "x")
	u.State = v1beta2.UpgradeStateRebuildingReplica
	s.Replicas[0].Spec.FailedAt, s.Replicas[0].Spec.HealthyAt = "", "" // it is taken back
	s.Now = s.Now.Add(time.Minute)
	watched(t, s)
	require.Equal(t, v1beta2.VolumeRobustnessHealthy, s.Volume.Status.Robustness)
	require.Len(t, s.Engines[0].Spec.ReplicaAddressMap, 3)
}
