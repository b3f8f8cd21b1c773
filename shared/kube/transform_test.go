package kube_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	toolscache "k8s.io/client-go/tools/cache"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

func TestACacheKeepsWhatIsThinAndWhatIsNoObject(t *testing.T) {
	keep := kube.Keep(func(v *v1beta2.Volume) *v1beta2.Volume {
		return &v1beta2.Volume{Spec: v1beta2.VolumeSpec{NodeID: v.Spec.NodeID}}
	})
	kept, err := keep(&v1beta2.Volume{Spec: v1beta2.VolumeSpec{NodeID: "n", Size: 1}})
	require.NoError(t, err)
	require.Equal(t, &v1beta2.Volume{Spec: v1beta2.VolumeSpec{NodeID: "n"}}, kept)
	deleted := toolscache.DeletedFinalStateUnknown{Key: "ns/v"}
	kept, err = keep(deleted)
	require.NoError(t, err)
	require.Equal(t, deleted, kept)
}
