// Package nodedisks reads which block disks a node has, for those who have to know whether their server has loaded them.
package nodedisks

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/disk"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Reader answers from a reader of Nodes which block disks a node has; false where that is unknown.
func Reader(reader client.Reader, namespace string) func(node string) ([]inventory.NodeDisk, bool) {
	return func(name string) ([]inventory.NodeDisk, bool) {
		n, err := lookup.Shared(context.Background(), reader, namespace, name, &v1beta2.Node{})
		if err != nil || n == nil {
			return nil, false
		}
		return Of(n), true
	}
}

// Of returns the block disks of a Node's spec with the records of its status, by name. The status of a v1 disk that had the key before
// records nothing about the device: any v2 replica may be there.
func Of(n *v1beta2.Node) []inventory.NodeDisk {
	var out []inventory.NodeDisk
	for _, name := range slices.Sorted(maps.Keys(n.Spec.Disks)) {
		spec, recorded := n.Spec.Disks[name], n.Status.DiskStatus[name]
		if spec.DiskType != v1beta2.DiskTypeBlock {
			continue
		}
		if disk.IsLeftOver(recorded) {
			recorded = v1beta2.DiskStatus{}
		}
		out = append(out, inventory.NodeDisk{Name: name, Path: spec.Path, Driver: recorded.DiskDriver, UUID: recorded.DiskUUID})
	}
	return out
}
