package cluster

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Attached reports whether the volume is in use, and settled.
func (v Volume) Attached() bool { return v.Object.Status.State == v1beta2.VolumeStateAttached }

// Settling reports whether the volume is being attached or detached.
func (v Volume) Settling() bool {
	state := v.Object.Status.State
	return state == v1beta2.VolumeStateAttaching || state == v1beta2.VolumeStateDetaching
}

// Holder is the node where the volume is attached, "" where it is not.
func (v Volume) Holder() string {
	if !v.Attached() && !v.Settling() {
		return ""
	}
	if node := v.Object.Status.CurrentNodeID; node != "" {
		return node
	}
	return v.Object.Spec.NodeID
}

// Active returns the engine that serves the volume, nil where none runs.
func (v Volume) Active() *v1beta2.Engine {
	for _, e := range v.Engines {
		if e.Spec.Active && e.DeletionTimestamp == nil && e.Status.CurrentState == v1beta2.InstanceStateRunning {
			return e
		}
	}
	return nil
}

// TargetOn reports whether the engine that serves the volume is on the node.
func (v Volume) TargetOn(node string) bool {
	active := v.Active()
	return active != nil && active.Spec.NodeID == node
}

// EngineOn reports whether any engine of the volume is on the node, or must be, or may still be.
func (v Volume) EngineOn(node string) bool {
	for _, e := range v.Engines {
		if e.Spec.NodeID == node && v1beta2.MayRun(e.Spec.DesireState, e.Status.CurrentState) {
			return true
		}
	}
	return false
}

// On reports whether the volume is in use and that the node carries its frontend, its engine or one of its replicas.
func (v Volume) On(node string) bool {
	return (v.Attached() || v.Settling()) && (v.Holder() == node || v.EngineOn(node) || len(v.ReplicasOn(node)) > 0)
}

// ReplicasOn returns the replicas on the node that are in use or may still be.
func (v Volume) ReplicasOn(node string) []*v1beta2.Replica {
	var out []*v1beta2.Replica
	for _, r := range v.Replicas {
		if r.Spec.NodeID == node && v1beta2.MayRun(r.Spec.DesireState, r.Status.CurrentState) {
			out = append(out, r)
		}
	}
	return out
}

// Replica returns the volume's replica of that name, nil where it is gone.
func (v Volume) Replica(name string) *v1beta2.Replica {
	for _, r := range v.Replicas {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Mapped reports whether an engine of the volume uses the replica, or used it as of the last poll.
func (v Volume) Mapped(replica string) bool {
	for _, e := range v.Engines {
		if !v1beta2.MayRun(e.Spec.DesireState, e.Status.CurrentState) {
			continue
		}
		if _, seen := e.Status.CurrentReplicaAddressMap[replica]; seen || mapped(e, replica) || e.Status.ReplicaModeMap[replica] != "" {
			return true
		}
	}
	return false
}

// Healthy reports whether the volume has as many healthy replicas as it wants.
func (v Volume) Healthy() bool { return v.Object.Status.Robustness == v1beta2.VolumeRobustnessHealthy }

// At reports whether the volume's target is on the node for good: the frontend was switched to it, and no other engine is left, but for one
// that is to stop and whose node is unreachable: it stops when its node is back.
func (v Volume) At(node string) bool {
	current := v.Object.Status.CurrentTargetNodeID
	if current == "" {
		current = v.Holder()
	}
	if current != node || !v.TargetOn(node) {
		return false
	}
	for _, e := range v.Engines {
		unseen := !e.Spec.Active && e.Spec.DesireState == v1beta2.InstanceStateStopped &&
			e.Status.CurrentState == v1beta2.InstanceStateUnknown
		if e.Spec.NodeID != node && !unseen {
			return false
		}
	}
	return true
}

// AtOriginalNode reports whether the volume's target is where the volume is attached, and spec.targetNodeID is empty.
func (v Volume) AtOriginalNode() bool { return v.Object.Spec.TargetNodeID == "" && v.At(v.Holder()) }

// Left reports about a volume that is attached to another node whether it has left this node: no engine is here, spec.targetNodeID is
// empty, and its frontend leads to the node of the attachment. Whether it serves there does not concern this node.
func (v Volume) Left(node string) bool {
	current := v.Object.Status.CurrentTargetNodeID
	return v.Object.Spec.TargetNodeID == "" && (current == "" || current == v.Holder()) && !v.EngineOn(node)
}

// PolledSince reports whether the engine was polled no earlier than that.
func (v Volume) PolledSince(since time.Time) bool {
	e := v.Active()
	return e != nil && !parse(e.Status.LookedAt).Before(since)
}

// PollRequested reports whether a poll was requested no earlier than that.
func (v Volume) PollRequested(since time.Time) bool {
	e := v.Active()
	return e != nil && !parse(e.Spec.LookRequestedAt).Before(since)
}

// Rebuilt is how far the rebuild of the replica is, in per cent; it is 100 once the engine reads it.
func (v Volume) Rebuilt(r *v1beta2.Replica) int {
	e := v.Active()
	if e == nil {
		return 0
	}
	if e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW {
		return 100
	}
	status := e.Status.RebuildStatus["tcp://"+e.Spec.ReplicaAddressMap[r.Name]]
	return min(max(status.Progress, 0), 99)
}

// RebuiltInAll is the rebuild progress of all replicas that the volume wants: the sum of their per cents, and how many replicas they are.
func (v Volume) RebuiltInAll() (sum, replicas int) {
	for _, r := range v.Replicas {
		sum += v.Rebuilt(r)
	}
	return sum, max(len(v.Replicas), v.Object.Spec.NumberOfReplicas, 1)
}

func mapped(e *v1beta2.Engine, replica string) bool {
	_, ok := e.Spec.ReplicaAddressMap[replica]
	return ok
}

// parse parses a time of any precision; an invalid one gives the zero time, which is before everything.
func parse(value string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}
	}
	return at
}
