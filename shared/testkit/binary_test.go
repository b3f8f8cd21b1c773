package testkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	longhorn "drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func TestABinaryIsAllowedWhatItsGeneratedRoleSays(t *testing.T) {
	namespaced, everywhere := testkit.BinaryRules(t, "im-monitor")
	require.Contains(t, testkit.Granted(namespaced),
		testkit.Permission{Group: longhorn.GroupVersion.Group, Resource: "settings", Verb: "list"})
	require.Contains(t, testkit.Granted(everywhere), testkit.Permission{Resource: "nodes", Verb: "list"})

	namespace := testkit.Namespace(t)
	monitor := testkit.Client(t, testkit.BinaryIdentity(t, namespace, "im-monitor"))
	require.NoError(t, monitor.List(t.Context(), &longhorn.SettingList{}, client.InNamespace(namespace)))
	require.NoError(t, monitor.List(t.Context(), &corev1.NodeList{}))
	requireForbidden(t, monitor.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace)))
}
