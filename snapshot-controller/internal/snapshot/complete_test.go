package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestASnapshotIsCompletedByWhatItLacksAndKeepsWhatItHas(t *testing.T) {
	volume := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1", UID: "1"}}
	s := &v1beta2.Snapshot{Spec: v1beta2.SnapshotSpec{Volume: "vol-1"}}
	s.Finalizers = []string{"mine"}
	s.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "job"}}

	lacking, any := Complete(s, nil)
	require.True(t, any)
	require.Equal(t, metav1.ObjectMeta{
		Labels: map[string]string{v1beta2.LabelVolume: "vol-1"}, Finalizers: []string{"mine", v1beta2.Finalizer},
	}, lacking, "of a volume that is not there nothing can be referred to")

	lacking, any = Complete(s, volume)
	require.True(t, any)
	require.Equal(t, []metav1.OwnerReference{{Kind: "Job", Name: "job"}, v1beta2.OwnedBy(volume)}, lacking.OwnerReferences)

	s.Labels, s.Finalizers, s.OwnerReferences = lacking.Labels, lacking.Finalizers, lacking.OwnerReferences
	lacking, any = Complete(s, volume)
	require.False(t, any)
	require.Equal(t, metav1.ObjectMeta{}, lacking)
}
