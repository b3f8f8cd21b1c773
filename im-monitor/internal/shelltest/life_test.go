package shelltest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const image = "longhornio/longhorn-instance-manager:v1.10.0"

// manager waits until the instance manager of a node is in a state, and returns it.
func (e *Env) manager(name, state string) *v1beta2.InstanceManager {
	e.t.Helper()
	var im v1beta2.InstanceManager
	e.Eventually(func() bool {
		im = v1beta2.InstanceManager{}
		return e.Get(name, &im) && im.Status.CurrentState == state
	}, "instance manager %s never became %s", name, state)
	return &im
}

func (e *Env) ready(node string, status v1beta2.ConditionStatus, reason string) {
	e.t.Helper()
	e.Eventually(func() bool {
		var n v1beta2.Node
		if !e.Get(node, &n) {
			return false
		}
		c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady)
		return c != nil && c.Status == status && c.Reason == reason
	}, "node %s never became %s/%s", node, status, reason)
}

func TestANodeGetsItsInstanceManagerAndItsInstancesAreShown(t *testing.T) {
	e := Start(t)
	e.KubernetesNode("life-1", map[string]string{corev1.LabelTopologyZone: "a"})
	e.ready("life-1", v1beta2.ConditionFalse, v1beta2.ReasonManagerPodMissing)
	var n v1beta2.Node
	require.True(t, e.Get("life-1", &n))
	require.Contains(t, conditions.Get(n.Status.Conditions, v1beta2.NodeReady).Message, setting.DefaultInstanceManagerImage)
	require.Equal(t, "a", n.Status.Zone)

	e.Set(setting.DefaultInstanceManagerImage, image)
	name := v1beta2.InstanceManagerName("life-1", image, v1beta2.DataEngineV1)
	im := e.manager(name, v1beta2.InstanceManagerStateRunning)
	require.NotEmpty(t, im.Status.IP)
	require.Equal(t, n.UID, im.OwnerReferences[0].UID)
	e.ready("life-1", v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	e.Eventually(func() bool {
		return e.Get(name, im) && im.Status.APIVersion == 7 && im.Status.OwnerID == "life-1"
	}, "API version and owner were never written")

	e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: "v1", State: "running", UUID: "u1", PortStart: 10000, PortEnd: 10009})
	e.Eventually(func() bool {
		return e.Get(name, im) && im.Status.InstanceReplicas["vol-1-r-aabbccdd"].Status.UUID == "u1"
	}, "the replica never showed up")
	e.Servers.Drop(name, "vol-1-r-aabbccdd")
	e.Eventually(func() bool { return e.Get(name, im) && len(im.Status.InstanceReplicas) == 0 }, "the replica never went")
}
