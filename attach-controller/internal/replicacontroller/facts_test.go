package replicacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/replica"
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

// The condition RebuildHeld has the engine's reason word for word: with each change of it the condition is out of date.
func TestAVolumeIsDecidedOnAgainOnceItsRebuildIsHeldForAnotherReason(t *testing.T) {
	engine := func(snapshots ...string) *v1beta2.Engine {
		e := &v1beta2.Engine{}
		e.Spec.VolumeName, e.Spec.ReplicaAddressMap = "vol", map[string]string{"vol-r-1": "10.0.0.1:20000"}
		e.Status.SnapshotMaxCount, e.Status.Snapshots = 1, map[string]v1beta2.SnapshotInfo{"volume-head": {Name: "volume-head"}}
		for _, name := range snapshots {
			e.Status.Snapshots[name] = v1beta2.SnapshotInfo{Name: name, UserCreated: true}
		}
		return e
	}
	free, one, two := engine(), engine("monday"), engine("monday", "tuesday")
	require.NotEqual(t, replica.EngineHolds(one), replica.EngineHolds(two))
	require.True(t, kube.DeepChanged(engineFacts, free, one))
	require.True(t, kube.DeepChanged(engineFacts, one, two))
	require.False(t, kube.DeepChanged(engineFacts, two, two))
}
