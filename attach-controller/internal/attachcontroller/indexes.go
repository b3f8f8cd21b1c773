package attachcontroller

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// byNode finds volumes that are, or are to be, on a node, and VolumeAttachments with a ticket for it.
const byNode = "attachcontroller.node"

var indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}),
	kube.ByVolume(&v1beta2.EngineFrontend{}),
	kube.ByVolume(&v1beta2.Replica{}),
	kube.IndexByEach(&v1beta2.Volume{}, byNode, func(v *v1beta2.Volume) []string {
		return []string{v.Spec.NodeID, v.Spec.MigrationNodeID}
	}),
	kube.IndexByEach(&v1beta2.VolumeAttachment{}, byNode, func(a *v1beta2.VolumeAttachment) []string {
		var nodes []string
		for _, t := range a.Spec.AttachmentTickets {
			nodes = append(nodes, t.NodeID)
		}
		return nodes
	}),
}

// distinct are the names that are not empty, each once, in order.
func distinct(names ...string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
