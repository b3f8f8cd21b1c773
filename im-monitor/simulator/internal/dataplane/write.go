package dataplane

import (
	"fmt"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Written is an acknowledged write.
type Written struct {
	Number uint64 `json:"number"`
	Node   string `json:"node"`
	Device string `json:"device"`
	Engine string `json:"engine"`
}

// Write writes a block of a volume through its device on a node, or the one that was opened last. Unavailable means that the I/O waits:
// nothing was written, it may be tried again. Any other error is one that the workload sees.
func (p *Plane) Write(volumeName, nodeName string, block int64, text string) (Written, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.deviceOf(volumeName, nodeName)
	if err != nil {
		return Written{}, err
	}
	return p.write(d, block, text)
}

// Read reads a block, as Write writes it; false when it was never written.
func (p *Plane) Read(volumeName, nodeName string, block int64) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.deviceOf(volumeName, nodeName)
	if err != nil {
		return "", false, err
	}
	return p.read(d, block)
}

func (p *Plane) deviceOf(volumeName, nodeName string) (*device, error) {
	v := p.volumes[volumeName]
	if v == nil {
		return nil, refuse(NotFound, "volume %s was never seen", volumeName)
	}
	d := v.deviceOn(nodeName)
	if d == nil && nodeName == "" {
		return nil, refuse(NotFound, "volume %s has no frontend", volumeName)
	}
	if d == nil {
		return nil, refuse(NotFound, "volume %s has no frontend on node %s", volumeName, nodeName)
	}
	return d, nil
}

func (p *Plane) write(d *device, block int64, text string) (Written, error) {
	r, err := p.ready(d)
	if err != nil {
		return Written{}, err
	}
	v := d.volume
	v.number++
	for _, m := range r.with(ModeRW, ModeWO) {
		v.witness(d, r, m.data)
		m.data.Write(block, text, v.number)
	}
	v.acknowledge(block, text, d.epoch, r.engine.server.node.cut)
	return Written{Number: v.number, Node: d.node.name, Device: d.name, Engine: r.engine.Name}, nil
}

func (p *Plane) read(d *device, block int64) (string, bool, error) {
	r, err := p.ready(d)
	if err != nil {
		return "", false, err
	}
	members := r.with(ModeRW)
	if len(members) == 0 {
		return "", false, refuse(Unknown, "input/output error: engine %s has no replica with data", r.engine.Name)
	}
	text, ok := members[int(block)%len(members)].data.Read(block)
	return text, ok, nil
}

// ready is the engine behind a device, once none of its replicas is in doubt.
func (p *Plane) ready(d *device) (*engineRun, error) {
	r, err := p.target(d)
	if err != nil {
		return nil, err
	}
	for _, m := range r.members {
		if m.mode != ModeERR && !m.reachable() {
			m.poll()
		}
	}
	if !r.usable() || !r.open {
		return nil, refuse(Unknown, "input/output error: engine %s has no usable replica", r.engine.Name)
	}
	for _, m := range r.members {
		if m.mode != ModeERR && !m.reachable() {
			return nil, refuse(Unavailable, "replica %s does not answer", m.name)
		}
	}
	return r, nil
}

// witness reports, once per device, that it wrote to what a newer device had written to.
func (v *volume) witness(d *device, r *engineRun, to *data) {
	if to.writer > d.epoch && !v.reported[d.epoch] {
		v.reported[d.epoch] = true
		r.note(EffectTwoWriters, fmt.Sprintf("device %s on node %s writes to replica %s, which a newer device had written to", d.name,
			d.node.name, to.name))
	}
	to.writer = max(to.writer, d.epoch)
}

// Finding is a block that does not read as it was acknowledged.
type Finding struct {
	Replica string `json:"replica"`
	Block   int64  `json:"block"`
	Want    string `json:"want"`
	Got     string `json:"got"`
}

// Verification reports whether what was acknowledged can be read.
type Verification struct {
	Volume   string    `json:"volume"`
	OK       bool      `json:"ok"`
	Writes   uint64    `json:"writes"`
	Checksum string    `json:"checksum"`
	Mixed    bool      `json:"mixed"`
	Findings []Finding `json:"findings,omitempty"`
}

// maxFindings bounds what a verification reports.
const maxFindings = 20

// Verify reads the whole volume from every replica in mode RW of its newest engine; without an engine, from the newest data that is whole.
func (p *Plane) Verify(volumeName string) (Verification, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.volumes[volumeName]
	if v == nil {
		return Verification{}, refuse(NotFound, "volume %s was never seen", volumeName)
	}
	out := Verification{Volume: volumeName, Writes: v.truth.writes, Checksum: chain.Text(v.truth.sum)}
	for _, d := range v.readable(&out.Mixed) {
		out.Findings = append(out.Findings, v.differences(d)...)
	}
	out.OK = !out.Mixed && len(out.Findings) == 0
	out.Findings = out.Findings[:min(len(out.Findings), maxFindings)]
	return out, nil
}

// readable are the data that a reader is served from.
func (v *volume) readable(mixed *bool) []*data {
	var newest *engineRun
	for r := range v.engines {
		if newest == nil || r.epoch > newest.epoch {
			newest = r
		}
	}
	var out []*data
	if newest != nil {
		*mixed = newest.mixed()
		for _, m := range newest.with(ModeRW) {
			out = append(out, m.data)
		}
		return out
	}
	var best *data
	for d := range v.data {
		if !d.partial && (best == nil || d.Writes() > best.Writes()) {
			best = d
		}
	}
	if best == nil {
		return nil
	}
	return []*data{best}
}

// differences are the blocks of a replica that are not as acknowledged.
func (v *volume) differences(d *data) []Finding {
	var out []Finding
	if d.Sum() == v.truth.sum {
		return nil
	}
	for block, want := range v.truth.blocks {
		if got, _ := d.Read(block); got != want {
			out = append(out, Finding{Replica: d.name, Block: block, Want: want, Got: got})
		}
	}
	blocks, err := d.Contents(chain.Head)
	if err != nil {
		return out
	}
	for block, got := range blocks {
		if _, known := v.truth.blocks[block]; !known {
			out = append(out, Finding{Replica: d.name, Block: block, Got: got})
		}
	}
	return out
}
