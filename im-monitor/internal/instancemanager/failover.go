package instancemanager

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Unsettled reports why a volume with a replica on the node may need that replica in a moment; empty where it does not. An instance manager
// that appears idle then must stay: its replicas are stopped because the volume is on its way.
func Unsettled(v *v1beta2.Volume, engines []v1beta2.Engine, now time.Time, pause time.Duration) string {
	state := v.Status.State
	switch {
	case v.DeletionTimestamp != nil:
		return ""
	case state == v1beta2.VolumeStateAttaching || state == v1beta2.VolumeStateDetaching:
		return fmt.Sprintf("volume %s is %s", v.Name, state)
	case v.Spec.NodeID != "" && state != v1beta2.VolumeStateAttached && v.Status.Robustness != v1beta2.VolumeRobustnessFaulted:
		return fmt.Sprintf("volume %s is about to be attached to node %s", v.Name, v.Spec.NodeID)
	case v.Spec.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != "":
		return fmt.Sprintf("volume %s migrates", v.Name)
	case state == v1beta2.VolumeStateAttached &&
		either(v.Spec.TargetNodeID, v.Spec.NodeID) != either(v.Status.CurrentTargetNodeID, v.Status.CurrentNodeID):
		return fmt.Sprintf("the target of volume %s moves to node %s", v.Name, either(v.Spec.TargetNodeID, v.Spec.NodeID))
	case within(v.Status.RemountRequestedAt, now, pause) || within(v.Status.LastAutoSalvagedAt, now, pause):
		return fmt.Sprintf("volume %s lost its engine less than %s ago", v.Name, pause)
	}
	for i := range engines {
		if why := unsettledEngine(&engines[i]); why != "" {
			return why
		}
	}
	return ""
}

func unsettledEngine(e *v1beta2.Engine) string {
	wanted := e.Spec.DesireState == v1beta2.InstanceStateRunning
	switch state := e.Status.CurrentState; {
	case wanted && (state == v1beta2.InstanceStateError || state == v1beta2.InstanceStateUnknown):
		return fmt.Sprintf("volume %s lost its engine: %s is %s", e.Spec.VolumeName, e.Name, state)
	case !wanted || state != v1beta2.InstanceStateRunning:
		return ""
	}
	if v1beta2.IsRebuilding(e.Status.RebuildStatus) {
		return fmt.Sprintf("volume %s rebuilds a replica", e.Spec.VolumeName)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Status.ReplicaModeMap)) {
		if e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeWO {
			return fmt.Sprintf("volume %s rebuilds replica %s", e.Spec.VolumeName, name)
		}
	}
	return ""
}

func either(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// within reports whether a moment is not longer ago than that.
func within(at string, now time.Time, pause time.Duration) bool {
	t, err := time.Parse(time.RFC3339Nano, at)
	return err == nil && now.Sub(t) < pause
}
