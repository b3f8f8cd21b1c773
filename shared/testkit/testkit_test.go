package testkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	longhorn "drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

func TestMain(m *testing.M) {
	testkit.Main(m, testkit.WithClusterOptions(cluster.Options{Audit: true}))
}

func TestAnIdentityMayDoExactlyWhatItsRulesSay(t *testing.T) {
	namespace, other := testkit.Namespace(t), testkit.Namespace(t)
	setting := &longhorn.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orphan-auto-deletion"}}
	setting.Value = "true"
	require.NoError(t, testkit.Admin(t).Create(t.Context(), setting))

	mine := testkit.Client(t, testkit.Identity(t, namespace, "im-monitor", []rbacv1.PolicyRule{
		{APIGroups: []string{"longhorn.io"}, Resources: []string{"settings"}, Verbs: []string{"get", "list"}},
	}))
	require.NoError(t, mine.Get(t.Context(), client.ObjectKeyFromObject(setting), &longhorn.Setting{}))
	require.NoError(t, mine.List(t.Context(), &longhorn.SettingList{}, client.InNamespace(namespace)))
	requireForbidden(t, mine.Delete(t.Context(), setting))
	requireForbidden(t, mine.List(t.Context(), &longhorn.SettingList{}, client.InNamespace(other)))
	requireForbidden(t, mine.List(t.Context(), &corev1.NodeList{}))

	testkit.GrantCluster(t, namespace, "im-monitor", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}},
	})
	require.NoError(t, mine.List(t.Context(), &corev1.NodeList{}))

	unprivileged := testkit.Client(t, testkit.Identity(t, namespace, "unprivileged", nil))
	requireForbidden(t, unprivileged.Get(t.Context(), client.ObjectKeyFromObject(setting), &longhorn.Setting{}))
}

func requireForbidden(t *testing.T, err error) {
	t.Helper()
	require.True(t, apierrors.IsForbidden(err), "want Forbidden, got %v", err)
}
