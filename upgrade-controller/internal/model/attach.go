package model

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Attach is attach-controller's next step with a volume.
func (w *World) Attach(name string) {
	v := w.Volumes[name]
	if v == nil || v.Spec.NodeID == "" {
		return
	}
	w.takeOut(name)
	w.rebuild(name)
	w.retarget(v)
	w.evaluate(v)
}

// out are the states in which attach-controller keeps the listed replicas out of their engines.
var out = []string{
	v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack,
}

// takeOut removes listed replicas from every engine, and stops them; never the last one.
func (w *World) takeOut(volume string) {
	for _, u := range w.Upgrades {
		r := w.Replicas[u.Status.Volumes[volume].Replica]
		if r == nil || !slices.Contains(out, u.Status.State) {
			continue
		}
		if w.Usable(volume, r.Spec.NodeID) == 0 {
			continue
		}
		for _, e := range w.enginesOf(volume) {
			delete(e.Spec.ReplicaAddressMap, r.Name)
			delete(e.Status.ReplicaModeMap, r.Name)
		}
		r.Spec.DesireState, r.Spec.FailedAt = v1beta2.InstanceStateStopped, "2026-08-01T08:00:00Z"
	}
}

// rebuild adds one replica again, if its node takes any.
func (w *World) rebuild(volume string) {
	active := w.Active(volume)
	if active == nil || w.Usable(volume, "") == 0 {
		return
	}
	for _, r := range w.replicasOf(volume) {
		if r.Spec.FailedAt != "" && w.serves(r.Spec.NodeID) && !w.Nodes[r.Spec.NodeID].Spec.UpgradeRequested {
			for _, e := range w.enginesOf(volume) {
				w.use(e, r)
			}
			return
		}
	}
}

// retarget moves the volume's engine to the wanted node: a second engine, the switch once that runs, the end of the
// first. Each call is one of these.
func (w *World) retarget(v *v1beta2.Volume) {
	wanted := v.Spec.TargetNodeID
	if wanted == "" {
		wanted = v.Spec.NodeID
	}
	active, second := w.Active(v.Name), w.engineOn(v.Name, wanted)
	switch {
	case second == nil && w.takesEngine(wanted) && active != nil:
		e := &v1beta2.Engine{ObjectMeta: w.Meta(w.engineName(v.Name)), Spec: *active.Spec.DeepCopy()}
		e.Spec.NodeID, e.Spec.Active, e.Spec.DesireState = wanted, false, v1beta2.InstanceStateRunning
		w.Engines[e.Name] = e
	case second == nil && w.takesEngine(wanted):
		w.reopen(v, wanted)
	case second != nil && second.Status.CurrentState == v1beta2.InstanceStateRunning && w.serves(wanted):
		if !second.Spec.Active {
			for _, e := range w.enginesOf(v.Name) {
				e.Spec.Active = e == second
			}
			return
		}
		v.Status.CurrentTargetNodeID = v.Spec.TargetNodeID
		for _, e := range w.enginesOf(v.Name) {
			if e != second {
				delete(w.Engines, e.Name)
			}
		}
	}
}

// reopen creates an engine if none serves: its node died.
func (w *World) reopen(v *v1beta2.Volume, node string) {
	e := &v1beta2.Engine{ObjectMeta: w.Meta(w.engineName(v.Name))}
	e.Spec = v1beta2.EngineSpec{VolumeName: v.Name, NodeID: node, DataEngine: v1beta2.DataEngineV2, VolumeSize: v.Spec.Size,
		DesireState: v1beta2.InstanceStateRunning, ReplicaAddressMap: map[string]string{}}
	for _, r := range w.replicasOf(v.Name) {
		if r.Spec.FailedAt == "" && w.serves(r.Spec.NodeID) && r.Status.CurrentState == v1beta2.InstanceStateRunning {
			w.use(e, r)
		}
	}
	if len(e.Spec.ReplicaAddressMap) > 0 {
		w.Engines[e.Name] = e
	}
}

// takesEngine: a node that is being upgraded takes no engine but one that is switched back.
func (w *World) takesEngine(node string) bool {
	if !w.serves(node) {
		return false
	}
	if !w.Nodes[node].Spec.UpgradeRequested {
		return true
	}
	for _, u := range w.Upgrades {
		switchesBack := []string{v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRollingBack, v1beta2.UpgradeStateRebuildingReplica}
		if u.Spec.NodeID == node && slices.Contains(switchesBack, u.Status.State) {
			return true
		}
	}
	return false
}

// evaluate sets the volume's robustness.
func (w *World) evaluate(v *v1beta2.Volume) {
	switch usable := w.Usable(v.Name, ""); {
	case usable == 0:
		v.Status.Robustness = v1beta2.VolumeRobustnessFaulted
	case usable < v.Spec.NumberOfReplicas:
		v.Status.Robustness = v1beta2.VolumeRobustnessDegraded
	default:
		v.Status.Robustness = v1beta2.VolumeRobustnessHealthy
	}
}

// Usable counts the replicas that an engine could read now, beside those on a node.
func (w *World) Usable(volume, beside string) int {
	count := 0
	active := w.Active(volume)
	for _, r := range w.replicasOf(volume) {
		inUse := active == nil || active.Spec.ReplicaAddressMap[r.Name] != ""
		if inUse && r.Spec.FailedAt == "" && r.Status.CurrentState == v1beta2.InstanceStateRunning && r.Spec.NodeID != beside &&
			w.serves(r.Spec.NodeID) {
			count++
		}
	}
	return count
}

// Active is the engine that serves the volume, nil where none does.
func (w *World) Active(volume string) *v1beta2.Engine {
	for _, e := range w.enginesOf(volume) {
		if e.Spec.Active && e.Status.CurrentState == v1beta2.InstanceStateRunning && w.serves(e.Spec.NodeID) {
			return e
		}
	}
	return nil
}

func (w *World) engineOn(volume, node string) *v1beta2.Engine {
	for _, e := range w.enginesOf(volume) {
		if e.Spec.NodeID == node {
			return e
		}
	}
	return nil
}
