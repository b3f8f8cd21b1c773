package machine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// previousVolume stops the objects of a previous volume of the same name that are being deleted, and releases its frontends and engines:
// frontends, then engines, then the instances of replicas. Objects that are not being deleted are left alone.
type previousVolume struct{ *draft }

func (p previousVolume) decide() {
	ended := true
	for _, s := range p.Previous {
		if f, ok := s.(*v1beta2.EngineFrontend); ok && f.DeletionTimestamp != nil {
			ended = p.end(f, ofFrontend(f)) && ended
		}
	}
	if !ended {
		return
	}
	for _, s := range p.Previous {
		if e, ok := s.(*v1beta2.Engine); ok && e.DeletionTimestamp != nil {
			ended = p.end(e, ofEngine(e)) && ended
		}
	}
	if !ended {
		return
	}
	for _, s := range p.Previous {
		if r, ok := s.(*v1beta2.Replica); ok && r.DeletionTimestamp != nil {
			p.stopReplica(r)
		}
	}
}

// end stops one object and then releases it; it reports whether the object has stopped.
func (p previousVolume) end(object metav1.Object, i instance) bool {
	if i.wanted {
		p.patch(StageRun, object, "desireState", v1beta2.InstanceStateStopped)
		return false
	}
	if !p.stopped(i) {
		return false
	}
	p.remove(object)
	return true
}
