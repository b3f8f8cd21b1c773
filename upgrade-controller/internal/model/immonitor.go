package model

import (
	"drover.dev/drover/shared/api/v1beta2"
)

// Monitor is im-monitor's next step with a node: its instances, then its instance managers, then the snapshots.
func (w *World) Monitor(node string) {
	if n := w.Nodes[node]; n == nil || v1beta2.IsNodeDown(n) {
		return
	}
	serves := w.serves(node)
	for _, e := range w.Engines {
		if e.Spec.NodeID == node {
			w.runEngine(e, serves)
		}
	}
	for _, r := range w.Replicas {
		if r.Spec.NodeID == node && r.Spec.DesireState == v1beta2.InstanceStateStopped {
			r.Status.CurrentState = v1beta2.InstanceStateStopped
		}
	}
	w.replace(node)
	for name, s := range w.Snapshots {
		s.Status.ReadyToUse = true
		if s.DeletionTimestamp != nil {
			delete(w.Snapshots, name)
		}
	}
}

func (w *World) runEngine(e *v1beta2.Engine, serves bool) {
	if !serves {
		e.Status.CurrentState = v1beta2.InstanceStateError
		return
	}
	if e.Status.CurrentState == "" || e.Status.CurrentState == v1beta2.InstanceStateError {
		e.Status.CurrentState = v1beta2.InstanceStateRunning
		e.Status.ReplicaModeMap = map[string]string{}
		for name := range e.Spec.ReplicaAddressMap {
			e.Status.ReplicaModeMap[name] = v1beta2.ReplicaModeRW
		}
	}
	e.Status.LookedAt = e.Spec.LookRequestedAt
}

// replace takes the next step with the node's instance managers: the old one's pod is deleted, then the old one, then the new
// one starts. A replacement that has begun is completed, whatever the upgrade decided meanwhile.
func (w *World) replace(node string) {
	for _, u := range w.Upgrades {
		if u.Spec.NodeID == node && u.Status.State == v1beta2.UpgradeStateUpgradingInstanceManager && !w.used(node) {
			if old := w.named(u.Status.OldInstanceManager); old != nil && old.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
				old.Status.CurrentState = v1beta2.InstanceManagerStateError
				return
			}
		}
	}
	for _, m := range w.managersOf(node) {
		switch {
		case m.Spec.Image == OldImage && m.Status.CurrentState == v1beta2.InstanceManagerStateError:
			delete(w.Managers, m.Name)
			return
		case m.Spec.Image == NewImage && len(w.managersOf(node)) == 1 && !w.Broken[node]:
			m.Status.CurrentState, m.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 7
		}
	}
}

// used: an engine runs there, or a running engine maps a replica there.
func (w *World) used(node string) bool {
	for _, e := range w.Engines {
		if e.Spec.NodeID == node {
			return true
		}
		for name := range e.Spec.ReplicaAddressMap {
			if r := w.Replicas[name]; r != nil && r.Spec.NodeID == node {
				return true
			}
		}
	}
	return false
}

func (w *World) named(ref *v1beta2.InstanceManagerReference) *v1beta2.InstanceManager {
	if ref == nil {
		return nil
	}
	m := w.Managers[ref.Name]
	if m == nil || string(m.UID) != ref.UID {
		return nil
	}
	return m
}
