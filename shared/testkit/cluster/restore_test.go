package cluster_test

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"drover.dev/drover/shared/testkit/cluster"
)

// What was made since the backup never happened; what it holds is there, at the same address.
func TestEtcdIsRestoredToAnEarlierState(t *testing.T) {
	c, err := cluster.Start(t.Context(), cluster.Options{Progress: io.Discard})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	clientset, err := kubernetes.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	maps := configMaps{t, clientset}
	maps.create("before")
	backup := filepath.Join(t.TempDir(), "etcd")
	require.NoError(t, c.Backup(t.Context(), backup))
	require.Error(t, c.Backup(t.Context(), backup), "a backup is never overwritten")
	require.True(t, maps.has("before"), "the servers continue")
	maps.create("since")
	require.NoError(t, c.Restore(t.Context(), backup))
	require.True(t, maps.has("before"))
	require.False(t, maps.has("since"))
	maps.create("since")
}

type configMaps struct {
	t         *testing.T
	clientset *kubernetes.Clientset
}

// create tries again while the API server, which has just started, has not made the namespace yet.
func (m configMaps) create(name string) {
	require.Eventually(m.t, func() bool {
		_, err := m.clientset.CoreV1().ConfigMaps("default").Create(m.t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err == nil
	}, time.Minute, 100*time.Millisecond)
}

func (m configMaps) has(name string) bool {
	_, err := m.clientset.CoreV1().ConfigMaps("default").Get(m.t.Context(), name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		require.NoError(m.t, err)
	}
	return err == nil
}
