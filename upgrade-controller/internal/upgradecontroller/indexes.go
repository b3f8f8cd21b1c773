package upgradecontroller

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/upgrade/cluster"
)

// The indexes beside those that find engines and replicas by volume and by node.
const (
	// byTarget is the node of engines that serve their volumes.
	byTarget = "target"
	// byName is the name of volumes; a list by it copies nothing.
	byName = "name"
	// byFilling has volumes that are being filled from another one.
	byFilling = "filling"
	// bySource is the snapshot whose data volumes share or copy, as volume/snapshot.
	bySource = "source"
	// byRequest has volumes with a spec.targetNodeID.
	byRequest = "request"
	// byWork has snapshots whose data is being removed, and backups that are being taken.
	byWork = "work"
)

var indexes = []kube.Index{
	kube.IndexByEach(&v1beta2.Volume{}, kube.FieldNode, func(v *v1beta2.Volume) []string {
		return []string{v.Spec.NodeID, v.Status.CurrentNodeID}
	}),
	kube.IndexBy(&v1beta2.Volume{}, byName, (*v1beta2.Volume).GetName),
	kube.IndexIf(&v1beta2.Volume{}, byFilling, func(v *v1beta2.Volume) bool { return cluster.FilledFrom(v) != "" }),
	kube.IndexIf(&v1beta2.Volume{}, byRequest, func(v *v1beta2.Volume) bool { return v.Spec.TargetNodeID != "" }),
	kube.IndexBy(&v1beta2.Volume{}, bySource, v1beta2.SharedSnapshot),
	kube.IndexIf(&v1beta2.Snapshot{}, byWork, cluster.Removing),
	kube.IndexIf(&v1beta2.Backup{}, byWork, v1beta2.IsBackupBegun),
	kube.ByNode(&v1beta2.Engine{}),
	kube.ByVolume(&v1beta2.Engine{}),
	kube.IndexBy(&v1beta2.Engine{}, byTarget, func(e *v1beta2.Engine) string {
		if serves(e) {
			return e.Spec.NodeID
		}
		return ""
	}),
	kube.ByNode(&v1beta2.Replica{}),
	kube.ByVolume(&v1beta2.Replica{}),
}

// serves reports whether an engine is its volume's, and runs.
func serves(e *v1beta2.Engine) bool {
	return e.Spec.DataEngine == v1beta2.DataEngineV2 && e.Spec.Active && e.DeletionTimestamp == nil &&
		e.Status.CurrentState == v1beta2.InstanceStateRunning
}
