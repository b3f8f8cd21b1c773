package replicacontroller

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
)

// byTrouble finds volumes that lack a place for a replica.
const byTrouble = "replicacontroller.unplaced"

// byLocality finds, by the node that a volume is wanted on, those that want a replica there beside the others.
const byLocality = "replicacontroller.locality"

// byTarget finds, by the node, the volumes whose target is wanted there.
const byTarget = "replicacontroller.target"

var indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}),
	kube.ByVolume(&v1beta2.Replica{}),
	kube.ByNode(&v1beta2.Replica{}),
	kube.ByNode(&v1beta2.InstanceManager{}),
	kube.IndexIf(&v1beta2.Volume{}, byTrouble, func(v *v1beta2.Volume) bool {
		return conditions.IsFalse(v.Status.Conditions, v1beta2.VolumeScheduled)
	}),
	kube.IndexBy(&v1beta2.Volume{}, byLocality, func(v *v1beta2.Volume) string {
		if v.Spec.DataLocality != v1beta2.DataLocalityBestEffort {
			return ""
		}
		return v.Spec.NodeID
	}),
	kube.IndexBy(&v1beta2.Volume{}, byTarget, func(v *v1beta2.Volume) string { return v.Spec.TargetNodeID }),
}
