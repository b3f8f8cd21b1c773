package model

import (
	"slices"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

// checkOpen is the data's own invariant: an engine opens over replicas that have the same writes.
func (w *world) checkOpen(x *process) {
	first := ""
	for name, mode := range x.modes {
		if mode != v1beta2.ReplicaModeRW {
			continue
		}
		if w.plane.versions[w.data(name)] == noData {
			w.violated("DATA: an engine opens over a replica that has no data")
		}
		if first != "" && w.plane.versions[w.data(name)] != w.plane.versions[w.data(first)] {
			w.violated("DATA: an engine opens over replicas that differ")
		}
		first = name
	}
	if first == "" {
		return
	}
	for _, r := range current(w.replicas) {
		if isSecond(r) || r.DeletionTimestamp != nil && r.Spec.FailedAt != "" { // nobody uses it again
			continue
		}
		newer := w.plane.versions[w.data(r.Name)] > w.plane.versions[w.data(first)]
		if newer && w.reachable(r.Spec.NodeID) && !w.plane.givenUp[w.data(r.Name)] {
			w.violated("DATA: an engine opens over older data than another replica has")
		}
	}
}

// checkWriters is ATT-1: one node can write to replicas that count, or two during a migration.
func (w *world) checkWriters() {
	nodes := map[string]bool{}
	for _, x := range w.live() {
		for name, mode := range x.modes {
			if mode != v1beta2.ReplicaModeRW || !w.serves(name, x) || !w.counts(name) {
				continue
			}
			at := []string{x.node}
			if w.v2() && len(current(w.frontends)) > 0 {
				at = w.leading(x)
			}
			for _, node := range at {
				nodes[node] = true
			}
		}
	}
	limit := 1
	if w.volume.now.Spec.Migratable {
		limit = 2
	}
	if len(nodes) > limit {
		w.violated("ATT-1: %d nodes can write", len(nodes))
	}
}

// counts reports whether a replica did not fail, and need not be rebuilt.
func (w *world) counts(name string) bool {
	for _, r := range current(w.replicas) {
		if w.data(r.Name) == w.data(name) && w.holdsData(r) {
			return true
		}
	}
	return false
}

// checkAnswers is ATT-2: a satisfied ticket matches the wanted node and the frontend of the volume.
func (w *world) checkAnswers() {
	v := w.volume.now
	for _, t := range w.tickets() {
		switch {
		case !w.satisfied(t):
		case t.NodeID != v.Spec.NodeID && t.NodeID != v.Spec.MigrationNodeID:
			w.violated("ATT-2: a ticket of %s is satisfied where the volume is not wanted", t.Type)
		case !attach.Matches(t, v.Spec.DisableFrontend):
			w.violated("ATT-2: a ticket of %s is satisfied with the other frontend", t.Type)
		}
	}
}

func (w *world) shared() bool {
	v := w.volume.now
	return v.Spec.AccessMode == v1beta2.AccessModeReadWriteMany && !v.Spec.Migratable
}

// checkReplicaWrite is UPG-1: the last healthy replica is never marked as failed.
func (w *world) checkReplicaWrite(r *v1beta2.Replica, one machine.Write) {
	at, marks := one.Spec["failedAt"].(string)
	s := owner(w.replicas, r)
	if healthy, written := one.Spec["healthyAt"].(string); written && r.DeletionTimestamp != nil {
		w.plane.givenUp[w.data(r.Name)] = healthy == "" // an engine is to run without it, as without one that is marked
	}
	switch {
	case !marks || s == nil || s.now != r:
	case at == "":
		w.giveUpDeleted()
		delete(w.plane.givenUp, w.data(r.Name))
		w.checkSalvage(r)
	default:
		w.checkMark(r)
	}
}

// giveUpDeleted: an older replica is used, so that who deleted one on a node that is down gave it up.
func (w *world) giveUpDeleted() {
	for _, r := range current(w.replicas) {
		if r.DeletionTimestamp != nil && w.down(r.Spec.NodeID) {
			w.plane.givenUp[w.data(r.Name)] = true
		}
	}
}

func (w *world) checkMark(r *v1beta2.Replica) {
	if !w.reachable(r.Spec.NodeID) || w.down(r.Spec.NodeID) {
		w.plane.givenUp[w.data(r.Name)], w.plane.markedAt[w.data(r.Name)] = true, w.plane.versions[w.data(r.Name)]
	}
	another := slices.ContainsFunc(current(w.replicas), func(o *v1beta2.Replica) bool {
		return w.data(o.Name) != w.data(r.Name) && w.holdsData(o)
	})
	if w.holdsData(r) && !another && !w.deletedHoldsData(r) {
		w.violated("UPG-1: the last healthy replica is marked as failed")
	}
}

// deletedHoldsData reports whether a replica that is being deleted has all data that this one has, and more.
func (w *world) deletedHoldsData(r *v1beta2.Replica) bool {
	return slices.ContainsFunc(current(w.replicas), func(other *v1beta2.Replica) bool {
		return other.DeletionTimestamp != nil && other.Spec.FailedAt == "" && other.Spec.HealthyAt != "" &&
			w.plane.versions[w.data(other.Name)] >= w.plane.versions[w.data(r.Name)]
	})
}

// checkSalvage: a failed replica is used only if no replica that did not fail has more.
func (w *world) checkSalvage(r *v1beta2.Replica) {
	for _, other := range current(w.replicas) {
		if other.Name != r.Name && w.holdsData(other) && w.plane.versions[w.data(other.Name)] > w.plane.versions[w.data(r.Name)] {
			w.violated("DATA: a salvage goes back behind a replica that did not fail")
		}
	}
}

// holdsData reports whether a replica has all data; before the first attachment, every one has.
func (w *world) holdsData(r *v1beta2.Replica) bool {
	return r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && !isSecond(r) && (r.Spec.HealthyAt != "" || !w.opened())
}

// opened reports whether the volume was attached once.
func (w *world) opened() bool {
	return slices.ContainsFunc(current(w.replicas), func(r *v1beta2.Replica) bool { return r.Spec.LastHealthyAt != "" })
}
