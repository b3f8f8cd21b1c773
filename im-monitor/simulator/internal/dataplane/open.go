package dataplane

import (
	"fmt"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// register makes an engine one of its volume's, and reports what is wrong with what it opened.
func (r *engineRun) register() {
	v := r.volume
	for other := range v.engines {
		r.note(EffectTwoEngines, fmt.Sprintf("engine %s of the volume runs on node %s", other.engine.Name, other.engine.server.node.name))
	}
	v.engines[r] = true
	if r.frontend != "" && r.engine.server.engine == V1 {
		r.plane.openDevice(r.engine, r.epoch)
	}
	r.compare()
}

// compare holds what was opened against what was acknowledged.
func (r *engineRun) compare() {
	v, best := r.volume, r.best()
	if best == nil {
		return
	}
	if r.mixed() {
		r.note(EffectMixedReplicas, "the replicas in mode RW differ: "+r.sums())
	}
	switch {
	case best.data.Sum() == v.truth.sum:
	case v.untouched() && best.data.Empty(): // a reader must find what the backing image has
		v.begin(best.data)
	case v.mainland != nil && best.data.Sum() == v.mainland.sum:
		r.note(EffectIslandLost,
			fmt.Sprintf("%d writes of an engine that was partitioned are left behind", v.truth.writes-v.mainland.writes))
		v.truth, v.mainland, v.fence = *v.mainland, nil, r.epoch
		v.baseline++
	case best.data.Empty() && !best.data.partial && v.truth.writes > 0:
		r.note(EffectNewVolume, fmt.Sprintf("the volume begins again over empty replicas; it had %d writes", v.truth.writes))
		v.begin(best.data)
		v.mainland, v.fence = nil, r.epoch
		v.baseline++
	default:
		r.note(EffectStaleOpen, fmt.Sprintf("write %d was acknowledged, the newest replica has write %d: %s", v.truth.writes,
			best.data.Writes(), r.sums()))
		blocks, err := best.data.Contents(chain.Head)
		if err == nil {
			v.replace(blocks)
			v.fence = r.epoch
		}
	}
}

// untouched reports whether nothing is known of the volume's content yet.
func (v *volume) untouched() bool { return v.truth.writes == 0 && v.truth.sum == 0 && v.baseline == 0 }

// begin makes the content of data that no one wrote to the truth: that of the backing image, or nothing.
func (v *volume) begin(d *data) {
	blocks, err := d.Contents(chain.Head)
	if err != nil {
		blocks = chain.Blocks{}
	}
	v.truth = truth{blocks: blocks, sum: blocks.Sum()}
}

// mixed reports whether replicas in mode RW differ.
func (r *engineRun) mixed() bool {
	members := r.with(ModeRW)
	for _, m := range members {
		if m.data.Sum() != members[0].data.Sum() {
			return true
		}
	}
	return false
}

// sums names each replica with its mode, last write and checksum.
func (r *engineRun) sums() string {
	text := ""
	for _, m := range r.sorted() {
		if m.data != nil {
			text += fmt.Sprintf("%s %s at write %d (%s), ", m.name, m.mode, m.data.Writes(), chain.Text(m.data.Sum()))
		}
	}
	return text[:max(len(text)-2, 0)]
}

// note puts something about an engine into the journal.
func (r *engineRun) note(effect, message string) {
	s := r.engine.server
	r.plane.record(Entry{Source: SourcePlane, Node: s.node.name, Pod: s.pod, Method: "Open", Name: r.engine.Name, Type: TypeEngine,
		DataEngine: s.engine, UUIDFound: r.engine.UUID, Volume: r.volumeName(), Result: "OK", Effect: effect, Message: message})
}

func (r *engineRun) volumeName() string {
	if r.volume == nil {
		return ""
	}
	return r.volume.name
}
