package model

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// replenish simulates the placement of replicas: while the volume is attached it replaces those that failed or must leave, and deletes
// them once they are not needed.
func (w *world) replenish() {
	v := w.volume.now
	for _, s := range w.replicas {
		if s.now != nil && s.now.DeletionTimestamp != nil && !ofReplica(s.now).begun() && !ofReplica(s.now).wanted &&
			(isSecond(s.now) || w.copied(s.now)) {
			w.trace("replicas: %s is gone", s.now.Name)
			put(w, s, nil)
			return
		}
	}
	if v.Status.State != v1beta2.VolumeStateAttached || v.Status.CurrentNodeID == "" || w.migrating() {
		return
	}
	if w.countGood(false) < v.Spec.NumberOfReplicas {
		w.replace()
		return
	}
	w.remove()
}

// copied reports whether the data of a replica that is being deleted may be destroyed: a running engine reported another one as RW.
func (w *world) copied(r *v1beta2.Replica) bool {
	for _, other := range current(w.replicas) {
		if w.data(other.Name) == w.data(r.Name) || other.DeletionTimestamp != nil || other.Spec.FailedAt != "" || w.down(other.Spec.NodeID) {
			continue
		}
		for _, e := range current(w.engines) {
			_, mapped := e.Spec.ReplicaAddressMap[other.Name]
			if mapped && ofEngine(e).state == v1beta2.InstanceStateRunning && e.Status.ReplicaModeMap[other.Name] == v1beta2.ReplicaModeRW {
				return true
			}
		}
	}
	return false
}

// deleteAny lets a person delete a replica, which need not be one that the volume can do without.
func (w *world) deleteAny() {
	s := w.replicas[w.rng.IntN(len(w.replicas))]
	if s.now != nil && s.now.DeletionTimestamp == nil && s.now.Spec.LastHealthyAt != "" {
		w.trace("a person deletes %s", s.now.Name)
		if w.down(s.now.Spec.NodeID) || !w.reachable(s.now.Spec.NodeID) {
			w.plane.givenUp[w.data(s.now.Name)] = true
		}
		write(w, s, nil, func(r *v1beta2.Replica) { r.DeletionTimestamp = &metav1.Time{Time: w.now} })
	}
}

// countGood counts replicas that did not fail and may stay; healthyOnly leaves out those that must still be rebuilt.
func (w *world) countGood(healthyOnly bool) int {
	n := 0
	for _, r := range current(w.replicas) {
		if r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && !isSecond(r) && !w.evicted(r) && (healthy(r) || !healthyOnly) {
			n++
		}
	}
	return n
}

// healthy is the model's own: with the predicate of what it checks, a mistake there would go unnoticed.
func healthy(r *v1beta2.Replica) bool {
	return r.Spec.HealthyAt != "" && r.Spec.FailedAt == "" && r.DeletionTimestamp == nil && !isSecond(r)
}

// isSecond is the model's own: whether a replica is a second process over the directory of another one.
func isSecond(r *v1beta2.Replica) bool {
	return r.Spec.DataEngine == v1beta2.DataEngineV1 && !r.Spec.Active
}

func (w *world) evicted(r *v1beta2.Replica) bool {
	n := w.node(r.Spec.NodeID)
	return n == nil || n.now.Spec.EvictionRequested
}

// replace uses a failed replica again if its node is there, or creates one on a node that has none.
func (w *world) replace() {
	taken := map[string]bool{}
	for _, s := range w.replicas {
		if s.now == nil || isSecond(s.now) {
			continue
		}
		taken[s.now.Spec.NodeID] = true
		i := ofReplica(s.now)
		if s.now.Spec.FailedAt != "" && s.now.DeletionTimestamp == nil && !w.down(i.node) && !w.evicted(s.now) && !i.wanted && !i.begun() &&
			!i.concluded {
			w.trace("replicas: %s is used again", s.now.Name)
			write(w, s, nil, func(r *v1beta2.Replica) { r.Spec.FailedAt, r.Spec.HealthyAt = "", "" })
			return
		}
	}
	for _, n := range w.nodes {
		if !taken[n.name] && !v1beta2.IsNodeDown(n.now) && !n.now.Spec.EvictionRequested {
			w.newReplica(n.name, noData)
			w.trace("replicas: %s is placed on %s", w.replicas[len(w.replicas)-1].now.Name, n.name)
			return
		}
	}
}

// remove deletes a replica that failed or must leave, when enough others are healthy.
func (w *world) remove() {
	if w.countGood(true) < w.volume.now.Spec.NumberOfReplicas || w.volume.now.Status.Robustness != v1beta2.VolumeRobustnessHealthy {
		return
	}
	for _, s := range w.replicas {
		if s.now != nil && s.now.DeletionTimestamp == nil && !isSecond(s.now) && (s.now.Spec.FailedAt != "" || w.evicted(s.now)) {
			w.trace("replicas: %s is deleted", s.now.Name)
			write(w, s, nil, func(r *v1beta2.Replica) { r.DeletionTimestamp = &metav1.Time{Time: w.now} })
			return
		}
	}
}
