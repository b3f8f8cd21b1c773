package gateway

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// between is a client before whose first write of an object another writer is faster.
type between struct {
	client.Client
	once *atomic.Bool
	does func(ctx context.Context, kind string)
}

func (b between) interrupt(ctx context.Context, o client.Object) {
	if b.once.CompareAndSwap(false, true) {
		b.does(ctx, fmt.Sprintf("%T", o))
	}
}

// Create implements client.Client.
func (b between) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	b.interrupt(ctx, o)
	return b.Client.Create(ctx, o, options...)
}

// Patch implements client.Client.
func (b between) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	b.interrupt(ctx, o)
	return b.Client.Patch(ctx, o, patch, options...)
}

// raced starts a gateway before whose first write something happens.
func raced(t *testing.T, does func(e *env)) *env {
	t.Helper()
	var e *env
	e = newEnv(t, func(n *env) {
		e = n
		n.wrap = func(inner client.Client) client.Client {
			return between{inner, &atomic.Bool{}, func(context.Context, string) { does(e) }}
		}
	})
	return e
}

// TestTwoWritersOfASettingEndInOneValue proves that a Setting that another writer creates meanwhile is no error.
func TestTwoWritersOfASettingEndInOneValue(t *testing.T) {
	setting := func(e *env, value string) *v1beta2.Setting {
		return &v1beta2.Setting{ObjectMeta: e.meta("auto-salvage"), Value: value}
	}
	e := raced(t, func(e *env) { e.create(setting(e, "true")) })
	require.Equal(t, "false", e.call(http.MethodPut, "/v1/settings/auto-salvage", map[string]any{"value": "false"})["value"])
	stored := setting(e, "")
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(stored), stored))
	require.Equal(t, "false", stored.Value)
}

// TestAClaimNeverShrinksByARace proves that of two expansions at once the larger one stays.
func TestAClaimNeverShrinksByARace(t *testing.T) {
	now := &corev1.PersistentVolumeClaim{}
	read := func(e *env) {
		require.NoError(t, e.admin.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "claim-vol"}, now))
	}
	e := raced(t, func(e *env) {
		read(e)
		now.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
		require.NoError(t, e.admin.Update(t.Context(), now))
	})
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}, Provisioner: v1beta2.CSIDriver,
		AllowVolumeExpansion: new(true)}
	e.create(class)
	t.Cleanup(func() { require.NoError(t, e.admin.Delete(context.Background(), class)) })
	e.attachedVolume("vol", "node-1")
	e.user("vol", "pod", corev1.PodRunning)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: e.meta("claim-vol"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: "pv-" + e.namespace + "-vol",
		StorageClassName: &class.Name, Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	e.create(claim)
	e.status(claim, map[string]any{"phase": corev1.ClaimBound, "capacity": map[string]string{"storage": "1Gi"}})
	e.eventually("/v1/volumes/vol", "its claim", func(v map[string]any) bool { return at(v, "kubernetesStatus", "pvcName") == "claim-vol" })
	e.call(http.MethodPost, "/v1/volumes/vol?action=expand", map[string]any{"size": "3Gi"})
	read(e)
	require.Equal(t, "5Gi", now.Spec.Resources.Requests.Storage().String())
}

// TestTwoRequestsAtOnceMakeOneBackup proves that a client that sends a request again gets no second backup of the snapshot.
func TestTwoRequestsAtOnceMakeOneBackup(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("vol", "node-1")
	backUp := func() { e.call(http.MethodPost, "/v1/volumes/vol?action=snapshotBackup", map[string]any{"name": "s1"}) }
	backups := func() []v1beta2.Backup {
		var list v1beta2.BackupList
		require.NoError(t, e.admin.List(t.Context(), &list, client.InNamespace(e.namespace)))
		return list.Items
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(backUp)
	}
	group.Wait()
	require.Len(t, backups(), 1)
	first := backups()[0]
	e.status(&first, map[string]any{"state": v1beta2.BackupCompleted})
	backUp()
	require.Len(t, backups(), 2, "a backup of a snapshot that has one already is another one")
	require.NoError(t, e.admin.Delete(t.Context(), &first))
	testkit.WaitGone(t, e.admin, &first)
	second := backups()[0]
	e.status(&second, map[string]any{"state": v1beta2.BackupError})
	backUp()
	require.Len(t, backups(), 2)
}
