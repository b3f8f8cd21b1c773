package kube_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// indexer keeps the key functions as a cache does: a second index of the same kind and field is an error.
type indexer map[string]client.IndexerFunc

func (x indexer) IndexField(_ context.Context, obj client.Object, field string, keys client.IndexerFunc) error {
	name := fmt.Sprintf("%T %s", obj, field)
	if x[name] != nil {
		return errors.New("indexer conflict")
	}
	x[name] = keys
	return nil
}

func TestIndexKeys(t *testing.T) {
	into, indexes := indexer{}, kube.Indexes{}
	require.NoError(t, indexes.Add(t.Context(), into,
		kube.ByVolume(&v1beta2.Engine{}), kube.ByVolume(&v1beta2.Snapshot{}), kube.ByNode(&v1beta2.Replica{}), kube.ByHandle(),
		kube.IndexByEach(&v1beta2.Volume{}, "place", func(v *v1beta2.Volume) []string {
			return []string{v.Spec.NodeID, v.Spec.MigrationNodeID, v.Status.CurrentNodeID}
		}),
		kube.IndexIf(&v1beta2.Volume{}, "ends", func(v *v1beta2.Volume) bool { return v.DeletionTimestamp != nil }),
	))
	engine := &v1beta2.Engine{}
	engine.Spec.VolumeName = "v"
	require.Equal(t, []string{"v"}, into["*v1beta2.Engine volume"](engine))
	require.Empty(t, into["*v1beta2.Engine volume"](&v1beta2.Engine{}), "an empty key is none")
	require.Equal(t, []string{"v"}, into["*v1beta2.Snapshot volume"](&v1beta2.Snapshot{Spec: v1beta2.SnapshotSpec{Volume: "v"}}))
	replica := &v1beta2.Replica{}
	replica.Spec.NodeID = "n"
	require.Equal(t, []string{"n"}, into["*v1beta2.Replica node"](replica))
	volume := &v1beta2.Volume{Spec: v1beta2.VolumeSpec{NodeID: "n"}, Status: v1beta2.VolumeStatus{CurrentNodeID: "n"}}
	require.Equal(t, []string{"n"}, into["*v1beta2.Volume place"](volume), "each key counts once")
	require.Empty(t, into["*v1beta2.Volume ends"](volume))
	pv := &corev1.PersistentVolume{}
	require.Empty(t, kube.VolumeHandleOf(pv), "it is no driver's")
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "another", VolumeHandle: "v"}
	require.Empty(t, kube.VolumeHandleOf(pv))
	pv.Spec.CSI.Driver = v1beta2.CSIDriver
	require.Equal(t, []string{"v"}, into["*v1.PersistentVolume handle"](pv))
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "data"}
	require.Empty(t, kube.ClaimOf(pv), "it is not bound yet")
	pv.Status.Phase = corev1.VolumeBound
	require.Equal(t, "shop/data", kube.ClaimOf(pv))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "a", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		{Name: "b", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}, {Name: "c"}}}}
	require.Equal(t, []string{"shop/data", "shop/p-b"}, kube.ClaimsOf(pod))
	require.False(t, kube.UsesClaims(&corev1.Pod{}))
	volume.DeletionTimestamp = &metav1.Time{}
	require.Equal(t, []string{kube.Yes}, into["*v1beta2.Volume ends"](volume))
}

func TestOnlySharedIndexesAreAddedTwice(t *testing.T) {
	into, indexes := indexer{}, kube.Indexes{}
	own := kube.IndexBy(&v1beta2.Volume{}, "own", func(v *v1beta2.Volume) string { return v.Name })
	require.NoError(t, indexes.Add(t.Context(), into, kube.ByVolume(&v1beta2.Engine{}), own))
	require.NoError(t, indexes.Add(t.Context(), into, kube.ByVolume(&v1beta2.Engine{}), kube.ByVolume(&v1beta2.Replica{})))
	require.ErrorContains(t, indexes.Add(t.Context(), into, own), "indexing *v1beta2.Volume by own: indexer conflict")
	require.Len(t, into, 3)
}
