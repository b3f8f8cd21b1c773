package model

import "drover.dev/drover/shared/api/v1beta2"

// PlayRelocated runs a world in which the target of an attached volume is relocated, on a node that is partitioned and returns, over and
// over: mostly at the moment when the frontend leaves it. Other worlds rarely reach that moment.
func PlayRelocated(seed uint64, log bool) Outcome {
	w := newWorld(seed)
	w.keeps, w.moves, w.jitter, w.kind = log, true, true, plain
	w.attachForGood()
	w.pace()
	for range 3 {
		w.quietRounds(12)
		w.relocatedOnce()
	}
	w.calm()
	return Outcome{Broken: w.broken, Log: w.log}
}

// attachForGood makes the volume one of three copies, which a pod on the first node keeps attached.
func (w *world) attachForGood() {
	v := w.volume.now
	v.Spec = v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2, AccessMode: v1beta2.AccessModeReadWriteOnce, Size: unit, Image: "image",
		NumberOfReplicas: 3, DataLocality: "disabled", Frontend: "blockdev", OfflineRebuilding: "disabled"}
	w.replicas = nil
	for _, n := range w.nodes[:3] {
		w.newReplica(n.name, 0)
	}
	w.users.pods = map[string]bool{w.nodes[0].name: true}
	w.quietRounds(30)
}

// turns is how often im-monitor acts in a round. While a target moves, the actors' order must vary.
func (w *world) turns() int {
	if !w.jitter {
		return 1
	}
	return 1 + w.rng.IntN(2)
}

// quietRounds lets every actor act without any failure.
func (w *world) quietRounds(count int) {
	staleness, crashes := w.staleness, w.crashes
	w.staleness, w.crashes, w.quiet = 0, 0, true
	for range count {
		if w.broken == "" {
			w.round()
		}
	}
	w.staleness, w.crashes, w.quiet = staleness, crashes, false
}

// relocatedOnce relocates the target, partitions its new node, and wants it elsewhere.
func (w *world) relocatedOnce() {
	first, next := w.nodes[1], []string{"", w.nodes[2].name}[w.rng.IntN(2)]
	w.wishTarget(first.name)
	w.quietRounds(12)
	if w.volume.now.Status.CurrentTargetNodeID != first.name || w.broken != "" {
		return
	}
	w.staleness, w.crashes = []float64{0, 0.1}[w.rng.IntN(2)], []float64{0, 0.05}[w.rng.IntN(2)]
	first.reachable = false
	w.trace("%s is partitioned", first.name)
	w.wishTarget(next)
	for back := w.rng.IntN(400); back > 0 && w.broken == ""; back-- {
		w.one()
	}
	if !first.reachable {
		w.giveBack(first)
	}
	for range 200 {
		if w.broken == "" {
			w.one()
		}
	}
}

func (w *world) wishTarget(node string) {
	w.trace("an upgrade wants the target on %q", node)
	write(w, &w.volume, nil, func(v *v1beta2.Volume) { v.Spec.TargetNodeID = node })
}
