package machine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// endAllPrevious lets go what a volume of the same name has left behind, once it is being deleted: frontends, then engines, then
// the instances of replicas. What is not being deleted is left alone.
func (p *pass) endAllPrevious() {
	ended := true
	for _, s := range p.Previous {
		if f, ok := s.(*v1beta2.EngineFrontend); ok && f.DeletionTimestamp != nil {
			ended = p.endPrevious(f, ofFrontend(f)) && ended
		}
	}
	if !ended {
		return
	}
	for _, s := range p.Previous {
		if e, ok := s.(*v1beta2.Engine); ok && e.DeletionTimestamp != nil {
			ended = p.endPrevious(e, ofEngine(e)) && ended
		}
	}
	if !ended {
		return
	}
	for _, s := range p.Previous {
		if r, ok := s.(*v1beta2.Replica); ok && r.DeletionTimestamp != nil {
			p.halt(r)
		}
	}
}

// endPrevious stops one and lets it go then; true once it has ended.
func (p *pass) endPrevious(object metav1.Object, i instance) bool {
	if i.wanted {
		p.patch(StageStop, object, "desireState", v1beta2.InstanceStateStopped)
		return false
	}
	if !p.stopped(i) {
		return false
	}
	p.drop(object)
	return true
}
