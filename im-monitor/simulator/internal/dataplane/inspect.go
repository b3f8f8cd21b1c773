package dataplane

import (
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// VolumeInfo is what the plane holds of a volume, on all nodes.
type VolumeInfo struct {
	Name string `json:"name"`
	// Writes is the number of the last acknowledged write, Checksum that of what was acknowledged.
	Writes   uint64        `json:"writes"`
	Checksum string        `json:"checksum"`
	Engines  []EngineInfo  `json:"engines,omitempty"`
	Devices  []DeviceInfo  `json:"devices,omitempty"`
	Replicas []ReplicaInfo `json:"replicas,omitempty"`
}

// EngineInfo is a running engine.
type EngineInfo struct {
	Node     string            `json:"node"`
	Name     string            `json:"name"`
	Size     uint64            `json:"size"`
	Frontend string            `json:"frontend,omitempty"`
	Modes    map[string]string `json:"modes"`
	// Mixed is true while replicas that differ are read as one.
	Mixed bool `json:"mixed"`
}

// DeviceInfo is what a workload may write to.
type DeviceInfo struct {
	Node string `json:"node"`
	Name string `json:"name"`
	// Engine is where I/O goes; Waits reports why it does not.
	Engine string `json:"engine,omitempty"`
	Waits  string `json:"waits,omitempty"`
}

// ReplicaInfo is the data of a replica on a node, whether anything runs over it or not.
type ReplicaInfo struct {
	Node     string `json:"node"`
	Name     string `json:"name"`
	Writes   uint64 `json:"writes"`
	Checksum string `json:"checksum"`
	// Stale is true when it is not what was acknowledged, Partial while its rebuild is not finished.
	Stale     bool `json:"stale"`
	Partial   bool `json:"partial,omitempty"`
	Snapshots int  `json:"snapshots"`
}

// Volumes are the volumes that the plane has seen; with a name, that one.
func (p *Plane) Volumes(name string) []VolumeInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []VolumeInfo{}
	if v := p.volumes[name]; v != nil {
		return append(out, p.infoOf(v))
	}
	for _, v := range p.volumes {
		if name == "" {
			out = append(out, p.infoOf(v))
		}
	}
	slices.SortFunc(out, func(a, b VolumeInfo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (p *Plane) infoOf(v *volume) VolumeInfo {
	out := VolumeInfo{Name: v.name, Writes: v.truth.writes, Checksum: chain.Text(v.truth.sum)}
	for r := range v.engines {
		out.Engines = append(out.Engines, EngineInfo{Node: r.engine.server.node.name, Name: r.engine.Name, Size: r.size,
			Frontend: r.frontend,
			Modes:    p.modes(r.engine), Mixed: r.mixed()})
	}
	for d := range v.devices {
		info := DeviceInfo{Node: d.node.name, Name: d.name}
		if r, err := p.target(d); err != nil {
			info.Waits = err.Error()
		} else {
			info.Engine = r.engine.Name
		}
		out.Devices = append(out.Devices, info)
	}
	for d := range v.data {
		out.Replicas = append(out.Replicas, ReplicaInfo{Node: d.node.name, Name: d.name, Writes: d.Writes(), Checksum: chain.Text(d.Sum()),
			Stale: d.Sum() != v.truth.sum, Partial: d.partial, Snapshots: d.Count()})
	}
	slices.SortFunc(out.Engines, func(a, b EngineInfo) int { return strings.Compare(a.Name+a.Node, b.Name+b.Node) })
	slices.SortFunc(out.Devices, func(a, b DeviceInfo) int { return strings.Compare(a.Name+a.Node, b.Name+b.Node) })
	slices.SortFunc(out.Replicas, func(a, b ReplicaInfo) int { return strings.Compare(a.Name+a.Node, b.Name+b.Node) })
	return out
}

// FailReplica puts a replica into mode ERR at every engine of its volume that holds it.
func (p *Plane) FailReplica(volumeName, replica string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	if v := p.volumes[volumeName]; v != nil {
		for r := range v.engines {
			if m := r.members[replica]; m != nil && m.mode != ModeERR {
				found = true
				m.fail("the replica was set to mode ERR")
			}
		}
	}
	if !found {
		return refuse(NotFound, "no running engine of volume %s uses replica %s", volumeName, replica)
	}
	return nil
}
