package instancemanager

import "drover.dev/drover/shared/api/v1beta2"

// answer is yes, no, or unknown; unknown never permits anything.
type answer int

const (
	unknown answer = iota
	no
	yes
)

// idle reports whether nothing runs on the instance manager.
//
// With a pod, only a whole list of its present epoch reports it, for v2 a settled one: a server that has just restarted answers with an
// empty list for seconds. That a disk is not loaded makes no difference here: no replica of it can run, and the end of the pod destroys
// no data. Without a pod, v1 is idle, because its instances are processes of the pod. A v2 pod leaves lvols and frontends behind, and
// kernel connections of frontends continue without it: then the maps of the status, which keep what was last known of those, have to show
// that nothing but stopped replicas is left. So they must with a pod: one that is ended while they show more would be made again at once.
func idle(w World) answer {
	if w.Pod == nil && !w.v2() {
		return yes
	}
	remembered := remembered(w)
	switch {
	case w.Pod == nil:
		return remembered
	case !w.Inventory.Known, w.v2() && !w.Inventory.Settled:
		return unknown
	case w.v2() && remembered != yes:
		return remembered
	}
	return quiet(w.Inventory.Processes, w.v2())
}

// remembered reports whether the maps of the status show nothing but stopped v2 replicas. Engines end with their pod, and leave the maps.
func remembered(w World) answer {
	s := w.InstanceManager.Status
	left := Processes{Engines: s.InstanceEngines, EngineFrontends: s.InstanceEngineFrontends, Replicas: s.InstanceReplicas}
	if w.Pod == nil {
		left.Engines = nil
	}
	return quiet(left, true)
}

// quiet: a v2 replica in state stopped is data at rest; everything else that is listed counts as running, whatever its
// state, since a state that we do not know may be one that serves.
func quiet(p Processes, v2 bool) answer {
	if len(p.Engines)+len(p.EngineFrontends) > 0 {
		return no
	}
	for _, replica := range p.Replicas {
		if !v2 || replica.Status.State != v1beta2.InstanceStateStopped {
			return no
		}
	}
	return yes
}
