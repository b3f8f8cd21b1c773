package engine

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Ended is the status of an engine that does not run: what it reported of its replicas stays for those who close the volume, until they empty
// the map of replicas, or the next run begins; so does what failed there. What it reported of a restore stays until the next run begins, and
// what it reported of a copy as long as that is asked for.
func Ended(e *v1beta2.Engine) v1beta2.EngineStatus {
	s := *e.Status.DeepCopy()
	begins := e.Spec.DesireState == v1beta2.InstanceStateRunning && (s.Starting || s.CurrentState == v1beta2.InstanceStateStarting)
	closed := e.Spec.DesireState != v1beta2.InstanceStateRunning && s.CurrentState == v1beta2.InstanceStateStopped &&
		len(e.Spec.ReplicaAddressMap) == 0
	if s.CurrentState != v1beta2.InstanceStateRunning && (begins || closed) {
		s.ReplicaModeMap, s.ReplicaTransitionTimeMap, s.CurrentReplicaAddressMap, s.RebuildStatus = nil, nil, nil, nil
		if conditions.Get(s.Conditions, v1beta2.EngineOperations) != nil {
			s.Conditions = conditions.Remove(s.Conditions, v1beta2.EngineOperations)
		}
	}
	if e.Spec.RequestedDataSource == "" {
		s.CloneStatus = nil
	}
	if s.CurrentState != v1beta2.InstanceStateRunning && begins {
		s.RestoreStatus = nil
	}
	return s
}
