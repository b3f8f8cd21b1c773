package abandoned

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func listing(node, uuid string) v1beta2.InstanceManager {
	m := v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{NodeID: node, DataEngine: v1beta2.DataEngineV1}}
	m.Status.InstanceEngines = map[string]v1beta2.InstanceProcess{"name": {Status: v1beta2.InstanceProcessStatus{UUID: uuid + "-e"}}}
	m.Status.InstanceReplicas = map[string]v1beta2.InstanceProcess{"name": {Status: v1beta2.InstanceProcessStatus{UUID: uuid + "-r"}}}
	return m
}

// An engine and a replica may have one name; each is recorded with the UUID of its own list.
func TestWhatIsListedUnderAName(t *testing.T) {
	entry := v1beta2.AbandonedInstance{UUID: "a-e"}
	nodes := map[string]*v1beta2.Node{}
	for _, name := range []string{"node-1", "node-2"} {
		nodes[name] = &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	nodes["node-1"].Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{"name": entry}
	managers := []v1beta2.InstanceManager{listing("node-1", "a"), listing("node-2", "b"), listing("gone", "c")}

	require.Equal(t, []Listing{
		{Node: "node-1", UUID: "a-e", DataEngine: v1beta2.DataEngineV1, Recorded: &entry},
		{Node: "node-2", UUID: "b-e", DataEngine: v1beta2.DataEngineV1},
	}, Listed(Engines, "name", managers, nodes), "a node that does not exist takes no record")
	require.Equal(t, "a-r", Listed(Replicas, "name", managers, nodes)[0].UUID)
	require.Empty(t, Listed(Engines, "other", managers, nodes))
	require.Empty(t, Listed(Engines, "name", nil, nodes))
}
