package engine

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Ended is the status of an engine that does not run. What it reported about its replicas stays for attach-controller, until that empties
// the map of replicas, or the next run begins; so does the condition Operations. The restore status stays until the next run begins, and
// the clone status as long as the clone is requested. Where it is known that the engine has ended, no purge and no expansion goes on.
func Ended(e *v1beta2.Engine) v1beta2.EngineStatus {
	s := *e.Status.DeepCopy()
	begins := e.Spec.DesireState == v1beta2.InstanceStateRunning && (s.Starting || s.CurrentState == v1beta2.InstanceStateStarting)
	closed := e.Spec.DesireState != v1beta2.InstanceStateRunning && s.CurrentState == v1beta2.InstanceStateStopped &&
		len(e.Spec.ReplicaAddressMap) == 0
	if s.CurrentState != v1beta2.InstanceStateRunning && (begins || closed) {
		s.ReplicaModeMap, s.ReplicaTransitionTimeMap, s.CurrentReplicaAddressMap, s.RebuildStatus = nil, nil, nil, nil
		s.PurgeStatus = nil
		if conditions.Get(s.Conditions, v1beta2.EngineOperations) != nil {
			s.Conditions = conditions.Remove(s.Conditions, v1beta2.EngineOperations)
		}
	}
	switch s.CurrentState {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopping, v1beta2.InstanceStateUnknown: // it may run
	default:
		if s.IsExpanding = false; v1beta2.IsPurging(s.PurgeStatus) {
			s.PurgeStatus = nil
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
