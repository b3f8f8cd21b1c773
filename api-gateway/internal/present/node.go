package present

import (
	"cmp"
	"slices"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
)

// Node is a node as clients see it. All its numbers are numbers.
type Node struct {
	wire.Meta
	Name                      string               `json:"name"`
	Address                   string               `json:"address"`
	AllowScheduling           bool                 `json:"allowScheduling"`
	EvictionRequested         bool                 `json:"evictionRequested"`
	AutoEvicting              bool                 `json:"autoEvicting"`
	Tags                      []string             `json:"tags"`
	InstanceManagerCPURequest int                  `json:"instanceManagerCPURequest"`
	Region                    string               `json:"region"`
	Zone                      string               `json:"zone"`
	Conditions                map[string]Condition `json:"conditions"`
	Disks                     map[string]Disk      `json:"disks"`
}

// Disk is a disk of a node: its spec and its status.
type Disk struct {
	Path                      string                        `json:"path"`
	DiskType                  string                        `json:"diskType"`
	DiskDriver                string                        `json:"diskDriver"`
	AllowScheduling           bool                          `json:"allowScheduling"`
	EvictionRequested         bool                          `json:"evictionRequested"`
	StorageReserved           int64                         `json:"storageReserved"`
	Tags                      []string                      `json:"tags"`
	Conditions                map[string]Condition          `json:"conditions"`
	StorageAvailable          int64                         `json:"storageAvailable"`
	StorageScheduled          int64                         `json:"storageScheduled"`
	StorageMaximum            int64                         `json:"storageMaximum"`
	ScheduledReplica          map[string]int64              `json:"scheduledReplica"`
	ScheduledBackingImage     map[string]int64              `json:"scheduledBackingImage"`
	DiskUUID                  string                        `json:"diskUUID"`
	HealthData                map[string]v1beta2.DiskHealth `json:"healthData"`
	HealthDataLastCollectedAt string                        `json:"healthDataLastCollectedAt"`
}

// NewNode returns a node as clients see it. address is the IP of its instance manager.
func NewNode(base string, n *v1beta2.Node, address string) Node {
	out := Node{Meta: wire.NewMeta(base, wire.TypeNode, n.Name, "diskUpdate"), Name: n.Name, Address: address,
		AllowScheduling: n.Spec.AllowScheduling, EvictionRequested: n.Spec.EvictionRequested, AutoEvicting: n.Status.AutoEvicting,
		Tags: list(n.Spec.Tags), InstanceManagerCPURequest: n.Spec.InstanceManagerCPURequest, Region: n.Status.Region, Zone: n.Status.Zone,
		Conditions: conditionMap(n.Status.Conditions), Disks: map[string]Disk{}}
	for name, spec := range n.Spec.Disks {
		out.Disks[name] = newDisk(spec, n.Status.DiskStatus[name])
	}
	return out
}

func newDisk(spec v1beta2.DiskSpec, status v1beta2.DiskStatus) Disk {
	return Disk{Path: spec.Path, DiskType: cmp.Or(spec.DiskType, "filesystem"), DiskDriver: spec.DiskDriver,
		AllowScheduling: spec.AllowScheduling, EvictionRequested: spec.EvictionRequested, StorageReserved: spec.StorageReserved,
		Tags: list(spec.Tags), Conditions: conditionMap(status.Conditions), StorageAvailable: status.StorageAvailable,
		StorageScheduled: status.StorageScheduled, StorageMaximum: status.StorageMaximum, ScheduledReplica: table(status.ScheduledReplica),
		ScheduledBackingImage: table(status.ScheduledBackingImage), DiskUUID: status.DiskUUID, HealthData: table(status.HealthData),
		HealthDataLastCollectedAt: status.HealthDataLastCollectedAt}
}

// Tag is a tag of nodes or of disks.
type Tag struct {
	wire.Meta
	Name    string `json:"name"`
	TagType string `json:"tagType"`
}

// NewTags returns each tag of nodes, or of disks if kind is "disk", once and in order.
func NewTags(base, kind string, nodes []*v1beta2.Node) []Tag {
	out := []Tag{}
	for _, name := range TagsOf(kind, nodes) {
		out = append(out, Tag{Meta: wire.NewMeta(base, wire.TypeTag, name), Name: name, TagType: kind})
	}
	return out
}

// TagsOf names each tag of nodes, or of disks if kind is "disk", once and in order.
func TagsOf(kind string, nodes []*v1beta2.Node) []string {
	var names []string
	for _, n := range nodes {
		if kind == "node" {
			names = append(names, n.Spec.Tags...)
			continue
		}
		for _, d := range n.Spec.Disks {
			names = append(names, d.Tags...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
