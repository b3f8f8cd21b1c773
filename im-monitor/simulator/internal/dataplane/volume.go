package dataplane

import (
	"maps"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// volume is what the plane knows of a volume across nodes: what was acknowledged, and who serves it.
type volume struct {
	name string
	// number counts the volume's writes, whoever made them.
	number uint64
	// truth is what a reader must find. mainland is what it was before an engine on a node that is partitioned continued alone; nil when
	// none did.
	truth    truth
	mainland *truth
	// fence is the epoch below which devices do not count any more: a newer engine continued without what they wrote.
	fence uint64
	// baseline counts how often the truth was replaced, by a revert or a restore.
	baseline uint64
	data     map[*data]bool
	engines  map[*engineRun]bool
	devices  map[*device]bool
	reported map[uint64]bool // epochs of devices that were reported as second writers
}

// truth is the content that was acknowledged.
type truth struct {
	blocks chain.Blocks
	sum    uint64
	writes uint64
}

func (t truth) copy() truth {
	t.blocks = maps.Clone(t.blocks)
	return t
}

// volume finds a volume or makes it; nil without a name. The lock is held.
func (p *Plane) volume(name string) *volume {
	if name == "" {
		return nil
	}
	v := p.volumes[name]
	if v == nil {
		v = &volume{name: name, truth: truth{blocks: chain.Blocks{}}, data: map[*data]bool{}, engines: map[*engineRun]bool{},
			devices: map[*device]bool{}, reported: map[uint64]bool{}}
		p.volumes[name] = v
	}
	return v
}

// acknowledge makes a write part of the truth. An island is an engine on a node that is partitioned.
func (v *volume) acknowledge(block int64, text string, epoch uint64, island bool) {
	if epoch < v.fence {
		return
	}
	switch {
	case island && v.mainland == nil:
		before := v.truth.copy()
		v.mainland = &before
	case !island:
		v.mainland = nil
	}
	v.truth.sum = v.truth.blocks.Set(block, text, v.truth.sum)
	v.truth.writes = v.number
}

// replace makes blocks the truth, as a revert or a restore does; it answers the number of that change.
func (v *volume) replace(blocks chain.Blocks) uint64 {
	if v == nil {
		return 1
	}
	v.number++
	v.baseline++
	v.mainland = nil
	v.truth = truth{blocks: maps.Clone(blocks), sum: blocks.Sum(), writes: v.number}
	return v.number
}

// data is one replica's data on a node's disk, whatever runs over it.
type data struct {
	chain.Chain
	name   string
	node   *node
	volume *volume
	// partial is true from the beginning of a rebuild until its end.
	partial bool
	// size is the backend size of a v1 replica, as its directory keeps it; 0 is not known.
	size uint64
	// writer is the epoch of the newest device that wrote.
	writer uint64
}

// newData makes the data of a replica; the lock is held.
func (p *Plane) newData(n *node, name, volume string) *data {
	d := &data{name: name, node: n, volume: p.volume(volume)}
	if d.volume != nil {
		d.volume.data[d] = true
	}
	return d
}

// lost is the end of a replica's data.
func (d *data) lost() {
	if d != nil && d.volume != nil {
		delete(d.volume.data, d)
	}
}
