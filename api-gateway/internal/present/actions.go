package present

import (
	"slices"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
)

// volumeActions names the actions that clients may take on a volume now: clients enable buttons, and find addresses, by this list.
func volumeActions(v *v1beta2.Volume) []string {
	actions := []string{"attach", "detach"}
	if v.Status.Robustness == v1beta2.VolumeRobustnessFaulted {
		return append(actions, "salvage")
	}
	actions = append(actions, "snapshotCRCreate", "snapshotCRGet", "snapshotCRList", "snapshotCRDelete", "snapshotBackup")
	jobs := []string{"cancelExpansion", "offlineReplicaRebuilding", "recurringJobAdd", "recurringJobList", "recurringJobDelete"}
	steady := []string{"activate", "expand", "replicaRemove", "engineUpgrade", "pvCreate", "pvcCreate"}
	switch stateOf(v) {
	case v1beta2.VolumeStateDetached:
		return slices.Concat(actions, jobs, steady, updatesBut("updateReplicaCount"))
	case v1beta2.VolumeStateAttaching:
		return append(actions, jobs...)
	case v1beta2.VolumeStateAttached:
		return slices.Concat(actions, jobs, steady, []string{"trimFilesystem", "snapshotPurge", "snapshotCreate", "snapshotList",
			"snapshotGet", "snapshotDelete", "snapshotRevert"},
			updatesBut("updateAccessMode", "updateUblkQueueDepth", "updateUblkNumberOfQueue"))
	}
	return actions
}

// updatesBut names the actions that change one field, except some.
func updatesBut(without ...string) []string {
	return slices.DeleteFunc(wire.UpdateActions(), func(name string) bool { return slices.Contains(without, name) })
}
