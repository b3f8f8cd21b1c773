package nodeupgrade_test

import (
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
