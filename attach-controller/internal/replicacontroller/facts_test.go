package replicacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// Whoever lacks a place is found by its condition. What makes room before the cache has that finds nobody, so that the volume is decided on
// once more then.
func TestAVolumeIsDecidedOnAgainOnceTheCacheHasThatItLacksAPlace(t *testing.T) {
	condition := func(status v1beta2.ConditionStatus, message string) *v1beta2.Volume {
		v := &v1beta2.Volume{}
		v.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeScheduled, Status: status, Message: message}}
		return v
	}
	placed, lacks := condition(v1beta2.ConditionTrue, ""), condition(v1beta2.ConditionFalse, "one")
	require.True(t, kube.DeepChanged(volumeFacts, placed, lacks))
	require.False(t, kube.DeepChanged(volumeFacts, lacks, condition(v1beta2.ConditionFalse, "another")))
}
