package instancemanager

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// mapChanges compares the instance maps of the status with what is known, and names only the entries that differ: one
// event on an instance manager of a hundred instances writes one entry.
//
//	inventory known          entries follow the list; what a v2 list lacks goes only once the list is settled, a
//	                         replica only once it is proven not to be there
//	unknown, pod there       nothing is concluded, the maps stay
//	unknown, pod gone        v1: all gone, they were its processes. v2: engines are gone (RAID lives in the pod),
//	                         lvols and frontends outlive the pod and stay as last seen
//	node down                nothing is concluded, not even from a missing pod
func mapChanges(w World) (MapChanges, []string) {
	status := w.InstanceManager.Status
	switch {
	case w.Inventory.Known:
		seen := w.Inventory.Processes
		unsettled := func(string) bool { return w.v2() && !w.Inventory.Settled }
		unproven := func(name string) bool { return w.v2() && !w.Inventory.Gone[name] }
		var held []string
		changes := MapChanges{
			Engines:         diff(status.InstanceEngines, seen.Engines, unsettled, &held),
			EngineFrontends: diff(status.InstanceEngineFrontends, seen.EngineFrontends, unsettled, &held),
			Replicas:        diff(status.InstanceReplicas, seen.Replicas, unproven, nil),
		}
		slices.Sort(held)
		return changes, held
	case w.Kubernetes.Down() || !podGone(w):
		return MapChanges{}, nil
	case w.v2():
		return MapChanges{Engines: diff(status.InstanceEngines, nil, never, nil)}, nil
	}
	return MapChanges{
		Engines:         diff(status.InstanceEngines, nil, never, nil),
		EngineFrontends: diff(status.InstanceEngineFrontends, nil, never, nil),
		Replicas:        diff(status.InstanceReplicas, nil, never, nil),
	}, nil
}

// podGone: there is none, its container ended, or it has not had an address yet, so that nothing was started in it.
func podGone(w World) bool { return w.Pod == nil || PodEnded(w.Pod) || w.Pod.Status.PodIP == "" }

func never(string) bool { return false }

// diff leaves what is held, and names it where somebody asks.
func diff(old, seen map[string]v1beta2.InstanceProcess, hold func(name string) bool, held *[]string) map[string]*v1beta2.InstanceProcess {
	changes := map[string]*v1beta2.InstanceProcess{}
	for name, process := range seen {
		if before, ok := old[name]; !ok || !same(before, process) {
			changes[name] = &process
		}
	}
	for name := range old {
		if _, ok := seen[name]; ok {
			continue
		}
		if hold(name) {
			if held != nil {
				*held = append(*held, name)
			}
			continue
		}
		changes[name] = nil
	}
	return changes
}

// same compares what is written here; what another version wrote beside it makes no difference.
func same(a, b v1beta2.InstanceProcess) bool { return written(a) == written(b) }

type writtenFields struct {
	name, dataEngine, state, kind, uuid, message, endpoint string
	ports                                                  [4]int32
}

func written(p v1beta2.InstanceProcess) writtenFields {
	s := p.Status
	return writtenFields{
		name: p.Spec.Name, dataEngine: p.Spec.DataEngine, state: s.State, kind: s.Type, uuid: s.UUID,
		message: s.ErrorMsg, endpoint: s.Endpoint,
		ports: [4]int32{s.PortStart, s.PortEnd, s.TargetPortStart, s.TargetPortEnd},
	}
}
