package world

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnObjectIsFoundByItsWholeName(t *testing.T) {
	w := &World{Unread: []Unread{{Resource: "pods"}}}
	for _, name := range []string{"one", "one-more"} {
		w.Nodes.Items = append(w.Nodes.Items, v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		w.InstanceManagers.Items = append(w.InstanceManagers.Items, v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	require.Same(t, &w.Nodes.Items[1], w.Node("one-more"))
	require.Same(t, &w.InstanceManagers.Items[1], w.InstanceManager("one-more"))
	require.Nil(t, w.Node("on"))
	require.Nil(t, w.Node(""), "of an instance without a node")
	require.Nil(t, w.InstanceManager("on"))
	require.Nil(t, w.InstanceManager(""), "of an instance that none runs")
	require.True(t, w.IsUnread("pods"))
	require.False(t, w.IsUnread("nodes.longhorn.io"))
}

// Objects of Longhorn that name no data engine are of v1: an instance manager of v2 runs none of them.
func TestAnInstanceManagerRunsOneDataEngineOfItsNode(t *testing.T) {
	w := &World{}
	add := func(name, node, engine string) {
		w.InstanceManagers.Items = append(w.InstanceManagers.Items, v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1beta2.InstanceManagerSpec{NodeID: node, DataEngine: engine}})
	}
	add("no-name", "node-1", "")
	add("v1", "node-1", v1beta2.DataEngineV1)
	add("v2", "node-1", v1beta2.DataEngineV2)
	add("elsewhere", "node-2", v1beta2.DataEngineV2)
	names := func(node, engine string) []string {
		var out []string
		for _, im := range w.InstanceManagersOf(node, engine) {
			out = append(out, im.Name)
		}
		return out
	}
	require.Equal(t, []string{"no-name", "v1"}, names("node-1", ""))
	require.Equal(t, []string{"no-name", "v1"}, names("node-1", v1beta2.DataEngineV1))
	require.Equal(t, []string{"v2"}, names("node-1", v1beta2.DataEngineV2))
	require.Empty(t, names("node-3", ""))
}
