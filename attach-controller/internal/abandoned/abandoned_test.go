package abandoned

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestWhatIsNotProvenToHaveEndedIsRecorded(t *testing.T) {
	entry := v1beta2.AbandonedInstance{UUID: "u", DataEngine: "v1", VolumeUID: "v", At: "2026-08-01T12:00:00Z"}
	other := entry
	other.UUID = "before"
	for sentence, c := range map[string]struct {
		proven string
		listed []Listing
		want   int
	}{
		"nothing is listed":              {"node-1", nil, 0},
		"listed where its end is proven": {"node-1", []Listing{{Node: "node-1", UUID: "u", DataEngine: "v1"}}, 0},
		"listed where it is concluded":   {"", []Listing{{Node: "node-1", UUID: "u", DataEngine: "v1"}}, 1},
		"left behind on another node":    {"node-1", []Listing{{Node: "node-2", UUID: "u", DataEngine: "v1"}}, 1},
		"recorded already": {"", []Listing{{Node: "node-1", UUID: "u", DataEngine: "v1", Recorded: &entry}},
			0},
		"an earlier one of the name is recorded": {"", []Listing{{Node: "node-1", UUID: "u", DataEngine: "v1", Recorded: &other}},
			1},
		"without a UUID it cannot be distinguished": {"", []Listing{{Node: "node-1", DataEngine: "v2"}}, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			records := Records(Holder{Name: "e", Volume: "v", Node: c.proven}, c.listed, noon)
			require.Len(t, records, c.want)
			if c.want > 0 {
				require.Equal(t, Record{Node: c.listed[0].Node, Name: "e", Instance: entry}, records[0])
			}
		})
	}
}

func manager(dataEngine, reachable, uuid string) v1beta2.InstanceManager {
	m := v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: dataEngine}}
	m.Status.CurrentState = v1beta2.InstanceManagerStateRunning
	m.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: v1beta2.ConditionStatus(reachable)}}
	if uuid != "" {
		m.Status.InstanceEngines = map[string]v1beta2.InstanceProcess{"e": {Status: v1beta2.InstanceProcessStatus{UUID: uuid}}}
	}
	return m
}

func TestARecordIsOverOnceItsInstanceIsProvenToBeGone(t *testing.T) {
	for sentence, c := range map[string]struct {
		down     bool
		managers []v1beta2.InstanceManager
		over     bool
	}{
		"it is still listed":             {false, []v1beta2.InstanceManager{manager("v1", "True", "u")}, false},
		"it is not listed any more":      {false, []v1beta2.InstanceManager{manager("v1", "True", "")}, true},
		"another one has its name":       {false, []v1beta2.InstanceManager{manager("v1", "True", "after")}, true},
		"the node is down":               {true, []v1beta2.InstanceManager{manager("v1", "True", "")}, false},
		"the instance manager is silent": {false, []v1beta2.InstanceManager{manager("v1", "False", "")}, false},
		"another one of the node lists it": {false,
			[]v1beta2.InstanceManager{manager("v1", "True", ""), manager("v1", "True", "u")}, false},
		"only the other data engine's was asked": {false, []v1beta2.InstanceManager{manager("v2", "True", "")}, false},
		"no instance manager":                    {false, nil, false},
		"the other data engine's silence is no doubt": {false,
			[]v1beta2.InstanceManager{manager("v1", "True", ""), manager("v2", "False", "")}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
			n.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{"e": {UUID: "u", DataEngine: "v1"}}
			ready := v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}
			if c.down {
				ready = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeGone}
			}
			n.Status.Conditions = []v1beta2.Condition{ready}
			require.Equal(t, c.over, len(Over(n, c.managers)) == 1)
		})
	}
}

// Writing what was asked for is the end of it: with the records stored, nothing is missing, whatever its data engine or node.
func TestARecordThatIsStoredIsNotWrittenAgain(t *testing.T) {
	h := Holder{Name: "e", Volume: "v"}
	listed := []Listing{{Node: "node-1", UUID: "u", DataEngine: "v1"}, {Node: "node-2", UUID: "u", DataEngine: "v2"}}
	records := Records(h, listed, noon)
	require.Len(t, records, 2)
	for i := range listed {
		listed[i].Recorded = &records[i].Instance
	}
	require.Empty(t, Records(h, listed, noon.Add(time.Hour)), "a later time is no reason to write")
	listed[0].DataEngine = "v2"
	require.Equal(t, []Record{{Node: "node-1", Name: "e", Instance: v1beta2.AbandonedInstance{UUID: "u", DataEngine: "v2", VolumeUID: "v",
		At: "2026-08-01T12:00:00Z"}}}, Records(h, listed, noon), "one of the other data engine is another instance")
}

func TestOnlyAnInstanceManagerThatRunsProvesAnEnd(t *testing.T) {
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	n.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{}
	for _, name := range []string{"z", "e", "b", "a"} {
		n.Status.AbandonedInstances[name] = v1beta2.AbandonedInstance{UUID: "u", DataEngine: "v1"}
	}
	m := manager("v1", "True", "")
	require.Equal(t, []string{"a", "b", "e", "z"}, Over(n, []v1beta2.InstanceManager{m}), "in one order, so that nothing is written twice")
	m.Status.InstanceReplicas = map[string]v1beta2.InstanceProcess{"e": {Status: v1beta2.InstanceProcessStatus{UUID: "u"}}}
	require.Equal(t, []string{"a", "b", "z"}, Over(n, []v1beta2.InstanceManager{m}), "a replica that runs on is listed as one")
	for _, state := range []string{"", v1beta2.InstanceManagerStateError, v1beta2.InstanceManagerStateUnknown} {
		m.Status.CurrentState = state
		require.Empty(t, Over(n, []v1beta2.InstanceManager{m}), "its list may be old in state %q", state)
	}
}
