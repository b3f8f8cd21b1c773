package machine

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// imMonitor advances every instance one step: what must run runs, what must stop stops. On down nodes nothing is observed, and an instance
// that must stop is concluded stopped once every reachable replica is stopped.
func (s *fixture) imMonitor() bool {
	changed := false
	set := func(node, desired string, state, uuid *string, conditions *[]v1beta2.Condition, may bool) {
		before := *state
		down := []v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: v1beta2.ConditionTrue}}
		switch {
		case node != "" && s.nodeDown(node) && desired == v1beta2.InstanceStateRunning:
			if *state == v1beta2.InstanceStateRunning {
				*state = v1beta2.InstanceStateUnknown
			}
		case node != "" && s.nodeDown(node):
			if *state != v1beta2.InstanceStateStopped && s.cutOff() {
				*state, *conditions = v1beta2.InstanceStateStopped, down
			}
		case desired == v1beta2.InstanceStateRunning && may && *state != v1beta2.InstanceStateError:
			if *state != v1beta2.InstanceStateRunning {
				s.runs++
				*state, *uuid = v1beta2.InstanceStateRunning, fmt.Sprint("run-", s.runs)
			}
			*conditions = nil
		case desired != v1beta2.InstanceStateRunning:
			*state, *uuid, *conditions = v1beta2.InstanceStateStopped, "", nil
		}
		changed = changed || before != *state
	}
	for _, r := range s.Replicas {
		set(r.Spec.NodeID, r.Spec.DesireState, &r.Status.CurrentState, &r.Status.UUID, &r.Status.Conditions, true)
		if r.Status.StorageIP = "ip-" + r.Spec.NodeID; r.Status.Port == 0 {
			r.Status.Port = 10000
		}
	}
	for _, e := range s.Engines {
		before := e.Status.UUID
		set(e.Spec.NodeID, e.Spec.DesireState, &e.Status.CurrentState, &e.Status.UUID, &e.Status.Conditions,
			len(e.Spec.ReplicaAddressMap) > 0)
		s.open(e)
		e.Status.StorageIP, e.Status.Port, e.Status.CurrentSize = "ip-"+e.Spec.NodeID, 10010+int(e.Name[len(e.Name)-1]-'0'),
			max(e.Status.CurrentSize, e.Spec.VolumeSize)
		if e.Status.CurrentState == v1beta2.InstanceStateRunning {
			changed = s.poll(e, before != e.Status.UUID) || changed
		}
	}
	for _, f := range s.Frontends {
		before, held := f.Status, f.Status.CurrentState == v1beta2.InstanceStateSuspended
		if held {
			f.Status.CurrentState = v1beta2.InstanceStateRunning
		}
		set(f.Spec.NodeID, f.Spec.DesireState, &f.Status.CurrentState, &f.Status.UUID, &f.Status.Conditions, true)
		s.hold(f, held)
		changed = s.connect(f) || changed || before.CurrentState != f.Status.CurrentState || before.SuspendedAt != f.Status.SuspendedAt
	}
	return changed
}

// open lets a v1 engine that has just started open its replica processes. A process that another engine has open refuses it, and an engine
// with no replica left exits.
func (s *fixture) open(e *v1beta2.Engine) {
	if e.Spec.DataEngine == v1beta2.DataEngineV2 || e.Status.CurrentState != v1beta2.InstanceStateRunning {
		return
	}
	if s.opened == nil {
		s.opened = map[string]string{}
	}
	served := 0
	for _, r := range s.Replicas {
		if _, mapped := e.Spec.ReplicaAddressMap[r.Name]; !mapped || r.Status.CurrentState != v1beta2.InstanceStateRunning {
			continue
		}
		by := s.opened[r.Status.UUID]
		other := slices.ContainsFunc(s.Engines, func(o *v1beta2.Engine) bool {
			return o.Status.UUID == by && by != e.Status.UUID && o.Status.CurrentState == v1beta2.InstanceStateRunning
		})
		if !other {
			s.opened[r.Status.UUID] = e.Status.UUID
			served++
		}
	}
	if served == 0 && len(e.Spec.ReplicaAddressMap) > 0 {
		e.Status.CurrentState = v1beta2.InstanceStateError
		e.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceCreation, Status: v1beta2.ConditionFalse,
			Message: "exit status 61: replica must be closed, cannot add in state: open"}}
	}
}

// hold suspends the I/O of a running frontend as long as that is requested.
func (s *fixture) hold(f *v1beta2.EngineFrontend, held bool) {
	switch asked := f.Spec.SuspendRequestedAt; {
	case f.Status.CurrentState != v1beta2.InstanceStateRunning:
	case asked == "":
		f.Status.SuspendedAt = ""
	case held || f.Status.SuspendedAt != asked:
		f.Status.CurrentState, f.Status.SuspendedAt = v1beta2.InstanceStateSuspended, asked
	}
}

// connect lets a running frontend go to the target that its spec names, while that serves.
func (s *fixture) connect(f *v1beta2.EngineFrontend) bool {
	before := f.Status
	if f.Status.CurrentState == v1beta2.InstanceStateStopped {
		f.Status.TargetIP, f.Status.TargetPort = "", 0
	}
	for _, e := range s.Engines {
		if f.Spec.SuspendRequestedAt != "" && f.Status.CurrentState != v1beta2.InstanceStateSuspended {
			continue
		}
		at := e.Status.StorageIP == f.Spec.TargetIP && e.Status.Port == f.Spec.TargetPort && e.Name == f.Spec.EngineName
		if at && e.Status.CurrentState == v1beta2.InstanceStateRunning && !s.nodeDown(e.Spec.NodeID) &&
			ofFrontend(f).state == v1beta2.InstanceStateRunning && !s.nodeDown(f.Spec.NodeID) {
			f.Status.TargetIP, f.Status.TargetPort = f.Spec.TargetIP, f.Spec.TargetPort
		}
	}
	return before.TargetIP != f.Status.TargetIP || before.TargetPort != f.Status.TargetPort
}

func (s *fixture) cutOff() bool {
	for _, r := range s.Replicas {
		if !s.nodeDown(r.Spec.NodeID) && (r.Status.CurrentState != v1beta2.InstanceStateStopped ||
			r.Spec.DesireState == v1beta2.InstanceStateRunning) {
			return false
		}
	}
	return true
}

// poll sets what the running engine reports of its replicas: those that do not run are ERR, a new one is rebuilt at once.
func (s *fixture) poll(e *v1beta2.Engine, fresh bool) bool {
	modes := map[string]string{}
	for name := range e.Spec.ReplicaAddressMap {
		modes[name] = v1beta2.ReplicaModeERR
		for _, r := range s.Replicas {
			if r.Name == name && r.Status.CurrentState == v1beta2.InstanceStateRunning && !s.nodeDown(r.Spec.NodeID) &&
				(fresh || e.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeERR) {
				modes[name] = v1beta2.ReplicaModeRW
			}
		}
	}
	changed := !maps.Equal(modes, e.Status.ReplicaModeMap)
	e.Status.ReplicaModeMap = modes
	return changed
}
