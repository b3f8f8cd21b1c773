package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func lease(t *testing.T, namespace, name string) {
	t.Helper()
	require.NoError(t, testkit.Admin(t).Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace,
		Name: name}}))
}

func connect(t *testing.T) *Client {
	t.Helper()
	client, err := Connect(testkit.Cluster().AdminConfig(), "", time.Now())
	require.NoError(t, err)
	return client
}

// One API server goes through what a cluster can be: without Longhorn, with Longhorn alone, with Drover, with Drover twice.
func TestTheNamespaceIsTheOneWithDroverAndIsNeverGuessed(t *testing.T) {
	_, err := connect(t).Find(t.Context(), "longhorn-system")
	require.EqualError(t, err, "found no namespace with Drover: searched the leases of all namespaces for drover-attach-controller, "+
		"drover-im-monitor, drover-orphan-controller, drover-snapshot-controller, drover-upgrade-controller; name its namespace with -n, "+
		"check the cluster with: kubectl cluster-info")

	longhorn := testkit.Namespace(t)
	lease(t, longhorn, "longhorn-manager-upgrade-lock")
	volume := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: longhorn, Name: "vol-1"}, Spec: v1beta2.VolumeSpec{Size: 1 << 30}}
	require.NoError(t, testkit.Admin(t).Create(t.Context(), volume))
	_, err = connect(t).Find(t.Context(), "longhorn-system")
	require.ErrorContains(t, err,
		"there are volumes.longhorn.io in namespace "+longhorn+", so a Longhorn may be there: read its objects with: "+
			"kubectl drover status -n "+longhorn)

	drover := testkit.Namespace(t)
	lease(t, drover, "drover-im-monitor")
	lease(t, drover, "drover-attach-controller")
	found, err := connect(t).Find(t.Context(), "longhorn-system")
	require.NoError(t, err)
	require.Equal(t, drover, found)

	t.Run("where leases of all namespaces are forbidden, the candidates are searched", func(t *testing.T) {
		access := testkit.Identity(t, drover, "reader", []rbacv1.PolicyRule{
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list"}}})
		client, err := Connect(access, "", time.Now())
		require.NoError(t, err)
		found, err := client.Find(t.Context(), drover, "longhorn-system")
		require.NoError(t, err)
		require.Equal(t, drover, found)
		_, err = client.Find(t.Context(), "longhorn-system")
		require.ErrorContains(t, err, "searched the leases of longhorn-system (those of all namespaces are forbidden)")
	})

	second := testkit.Namespace(t)
	lease(t, second, "drover-im-monitor")
	_, err = connect(t).Find(t.Context(), "longhorn-system")
	require.ErrorContains(t, err, "there is more than one namespace with Drover: ")
	require.ErrorContains(t, err, second)
	require.ErrorContains(t, err, "name one with -n")
}

// A cluster need not have VolumeSnapshots of Kubernetes.
func TestAKindThatNeedNotExistHasNoObjects(t *testing.T) {
	c := connect(t)
	w := c.World()
	require.NoError(t, c.Read(t.Context(), w, Contents))
	require.Empty(t, w.Unread)
}
