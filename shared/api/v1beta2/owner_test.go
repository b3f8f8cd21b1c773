package v1beta2_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatBelongsToAVolumeHasItsUIDOrNoOwner(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "now"}}
	of := func(kind string, uid types.UID) *v1beta2.Replica {
		return &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: "v", UID: uid}}}}
	}
	require.True(t, v1beta2.BelongsTo(&v1beta2.Replica{}, v))
	require.True(t, v1beta2.BelongsTo(of("Node", "before"), v))
	require.True(t, v1beta2.BelongsTo(of("Volume", "now"), v))
	require.False(t, v1beta2.BelongsTo(of("Volume", "before"), v))
}
