package machine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// DecideWithoutVolume is Decide where the Volume does not exist, with everything of it in Previous: it is a previous volume without a next.
func DecideWithoutVolume(w World) Verdict {
	d := &draft{Facts: Facts{World: &w}}
	previousVolume{d}.decide()
	return d.verdict()
}

// previousVolume stops the objects of a previous volume of the same name that are being deleted, and releases its frontends and engines:
// frontends, then engines, then the instances of replicas. Objects that are not being deleted are left alone, and so is what they use: the
// engine of such a frontend, the replicas of such an engine.
type previousVolume struct{ *draft }

func (p previousVolume) decide() {
	ended := true
	for _, f := range p.Previous.Frontends {
		if f.DeletionTimestamp != nil {
			ended = p.end(f, ofFrontend(f)) && ended
		}
	}
	if !ended {
		return
	}
	for _, e := range p.Previous.Engines {
		if e.DeletionTimestamp != nil {
			ended = !p.led(e) && p.end(e, ofEngine(e)) && ended
		}
	}
	if !ended {
		return
	}
	for _, r := range p.Previous.Replicas {
		if r.DeletionTimestamp != nil && !p.serves(r) {
			p.stopReplica(r)
		}
	}
}

// end stops one object and then releases it; it reports whether it does not delay the next step. One on a down node delays nothing: it
// counts as stopped once the replicas that are reachable are.
func (p previousVolume) end(object metav1.Object, i instance) bool {
	if i.wanted {
		p.patch(StageRun, object, "desireState", v1beta2.InstanceStateStopped)
		return p.nodeDown(i.node)
	}
	if !p.stopped(i) {
		return p.nodeDown(i.node)
	}
	p.remove(object)
	return true
}

// led reports whether a frontend that nobody deleted may lead to the engine.
func (p previousVolume) led(e *v1beta2.Engine) bool {
	return slices.ContainsFunc(p.Previous.Frontends, func(f *v1beta2.EngineFrontend) bool {
		return f.DeletionTimestamp == nil && f.Spec.EngineName == e.Name && p.mayRun(ofFrontend(f)) && !p.nodeDown(f.Spec.NodeID)
	})
}

// serves reports whether an engine that nobody deleted may run over the replica.
func (p previousVolume) serves(r *v1beta2.Replica) bool {
	return slices.ContainsFunc(p.Previous.Engines, func(e *v1beta2.Engine) bool {
		_, wanted := e.Spec.ReplicaAddressMap[r.Name]
		_, reached := e.Status.CurrentReplicaAddressMap[r.Name]
		_, reported := e.Status.ReplicaModeMap[r.Name]
		return e.DeletionTimestamp == nil && p.mayRun(ofEngine(e)) && (wanted || reached || reported)
	})
}

func (p previousVolume) mayRun(i instance) bool { return i.wanted || !p.stopped(i) }
