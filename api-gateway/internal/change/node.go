package change

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// NodeInput has the fields of a node that clients change.
type NodeInput struct {
	AllowScheduling           bool     `json:"allowScheduling"`
	EvictionRequested         bool     `json:"evictionRequested"`
	Tags                      []string `json:"tags"`
	InstanceManagerCPURequest Count    `json:"instanceManagerCPURequest"`
}

var errEviction = errors.New("replicas are not evicted from where new ones may be placed: switch scheduling off first")

// NodeFields returns the new fields of a node's spec.
func NodeFields(in NodeInput) (map[string]any, error) {
	if in.EvictionRequested && in.AllowScheduling {
		return nil, errEviction
	}
	return map[string]any{"allowScheduling": in.AllowScheduling, "evictionRequested": in.EvictionRequested, "tags": in.Tags,
		"instanceManagerCPURequest": int(in.InstanceManagerCPURequest)}, nil
}

// DiskInput has the fields of a disk that clients change.
type DiskInput struct {
	Path              string   `json:"path"`
	DiskType          string   `json:"diskType"`
	DiskDriver        string   `json:"diskDriver"`
	AllowScheduling   bool     `json:"allowScheduling"`
	EvictionRequested bool     `json:"evictionRequested"`
	StorageReserved   int64    `json:"storageReserved"`
	Tags              []string `json:"tags"`
}

// DiskFields returns the fields of a node's disks, and null for each disk to remove. Fields that clients do not know stay.
func DiskFields(n *v1beta2.Node, wanted map[string]DiskInput) (map[string]any, error) {
	fields, paths := map[string]any{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		d := wanted[name]
		if err := refuseDisk(n, name, d); err != nil {
			return nil, fmt.Errorf("disk %s: %w", name, err)
		}
		if other, taken := paths[d.Path]; taken {
			return nil, fmt.Errorf("disks %s and %s have one path, %s", other, name, d.Path)
		}
		paths[d.Path] = name
		fields[name] = map[string]any{"path": d.Path, "allowScheduling": d.AllowScheduling, "evictionRequested": d.EvictionRequested,
			"storageReserved": d.StorageReserved, "tags": d.Tags, "diskType": orNull(d.DiskType), "diskDriver": orNull(d.DiskDriver)}
	}
	for name, d := range n.Spec.Disks {
		if _, stays := wanted[name]; stays {
			continue
		}
		if d.AllowScheduling || len(n.Status.DiskStatus[name].ScheduledReplica) > 0 {
			return nil, fmt.Errorf("disk %s is not removed while it may get replicas or has some: switch its scheduling off, evict its "+
				"replicas, and wait until it has none", name)
		}
		fields[name] = nil
	}
	return fields, nil
}

func refuseDisk(n *v1beta2.Node, name string, d DiskInput) error {
	before, exists := n.Spec.Disks[name]
	maximum := n.Status.DiskStatus[name].StorageMaximum
	switch {
	case d.EvictionRequested && d.AllowScheduling:
		return errEviction
	case exists && diskType(before.DiskType) != diskType(d.DiskType):
		return fmt.Errorf("its type is %s for good: add another disk of type %s", diskType(before.DiskType), diskType(d.DiskType))
	case d.StorageReserved < 0 || maximum > 0 && d.StorageReserved > maximum:
		return fmt.Errorf("storageReserved %d must be between 0 and the size of the disk, %d", d.StorageReserved, maximum)
	}
	return nil
}

func diskType(text string) string { return cmp.Or(text, "filesystem") }

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
