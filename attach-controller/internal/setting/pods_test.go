package setting

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting"
)

func TestKindsOfControllersAreReadAsPodsNameThem(t *testing.T) {
	require.Equal(t, "apps/StatefulSet", KindOf("apps/v1", "StatefulSet"))
	require.Equal(t, "/ReplicationController", KindOf("v1", "ReplicationController"))
	m := setting.Remember(Catalogue)
	for text, want := range map[string][]string{
		"": nil, ";": nil,
		"apps/StatefulSet; apps/DaemonSet ;":   {"apps/StatefulSet", "apps/DaemonSet"},
		"core/ReplicationController":           {KindOf("v1", "ReplicationController")},
		"ReplicationController;kubevirt.io/VM": {KindOf("v1", "ReplicationController"), "kubevirt.io/VM"},
		"/ReplicationController":               {KindOf("v1", "ReplicationController")},
	} {
		_, err := m.Set(SparedControllers, &text)
		require.NoError(t, err)
		require.Equal(t, want, m.Values("v1").SparedControllers, "%q", text)
	}
}

func TestThePolicyOfNodesThatAreDownCoversWhatItNames(t *testing.T) {
	m := setting.Remember(Catalogue)
	require.Equal(t, DoNothing, m.Values("v1").NodeDownPolicy, "no pod is deleted by force by default")
	for text, covers := range map[NodeDownPolicy][]string{
		DoNothing: {}, DeleteStatefulSetPod: {"apps/StatefulSet"}, DeleteDeploymentPod: {"apps/ReplicaSet"},
		DeleteBothStatefulSetAndDeploymentPod: {"apps/StatefulSet", "apps/ReplicaSet"},
	} {
		raw := string(text)
		_, err := m.Set(NodeDownPodDeletion, &raw)
		require.NoError(t, err)
		for _, kind := range []string{"apps/StatefulSet", "apps/ReplicaSet", "apps/DaemonSet", "example.com/StatefulSet", ""} {
			require.Equal(t, slices.Contains(covers, kind), m.Values("v1").NodeDownPolicy.Covers(kind), "%s: %s", text, kind)
		}
	}
	bad := "delete-all"
	_, err := m.Set(NodeDownPodDeletion, &bad)
	require.ErrorContains(t, err, "do-nothing, delete-statefulset-pod")
}
