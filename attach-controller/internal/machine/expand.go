package machine

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// expand lets the running engine grow, and then records the size in the Replicas. A further size waits until the engine has the previous
// one: after an expansion that failed halfway its replicas may have that size, and an engine that starts accepts replicas of its old size
// or of the wanted one alone.
func (p *pass) expand() {
	if !p.engineRuns() || p.Volume.Status.AcceptedSize == 0 { // the free space is not known yet
		return
	}
	wanted, e := v1beta2.SizeOf(p.Volume), p.engine
	if f := p.frontend; f != nil && f.Spec.Size < wanted {
		p.resizeFrontend(wanted)
	}
	unfinished := e.Status.CurrentSize > 0 && e.Status.CurrentSize < e.Spec.VolumeSize
	if e.Spec.VolumeSize < wanted && !unfinished {
		p.patch(StageStop, e, "volumeSize", size(wanted))
		return
	}
	if e.Status.CurrentSize < wanted || e.Status.IsExpanding {
		return
	}
	for _, r := range p.Replicas {
		if _, mapped := e.Spec.ReplicaAddressMap[r.Name]; mapped && r.Spec.VolumeSize < wanted {
			p.patch(StageStop, r, "volumeSize", size(wanted))
		}
	}
}

// sizeGiven writes the volume's size to an engine and frontend that were created without it.
func (p *pass) sizeGiven() {
	wanted := v1beta2.SizeOf(p.Volume)
	if wanted <= 0 {
		return
	}
	if p.engine.Spec.VolumeSize <= 0 {
		p.patch(StageStop, p.engine, "volumeSize", size(wanted))
	}
	if f := p.frontend; f != nil && f.Spec.Size <= 0 {
		p.resizeFrontend(wanted)
	}
}

func (p *pass) resizeFrontend(to int64) {
	p.patch(StageStop, p.frontend, "size", size(to))
	p.patch(StageStop, p.frontend, "volumeSize", size(to))
}

// expansionSaid adds the condition of a failed expansion, until the volume has its size.
func (p *pass) expansionSaid(list []v1beta2.Condition) []v1beta2.Condition {
	e := p.engine
	if e == nil {
		return list
	}
	required := e.Status.CurrentSize > 0 && e.Status.CurrentSize < p.Volume.Spec.Size
	switch {
	case required && e.Status.LastExpansionError != "":
		message := fmt.Sprintf("Engine %s has not grown: %s. It is tried again while the volume is attached.", e.Name,
			strings.TrimSuffix(e.Status.LastExpansionError, "."))
		return conditions.Set(list, v1beta2.Condition{Type: v1beta2.VolumeExpanded, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonExpansionFailed, Message: message}, p.Now)
	case !required && conditions.IsFalse(list, v1beta2.VolumeExpanded):
		return conditions.Set(list, v1beta2.Condition{Type: v1beta2.VolumeExpanded, Status: v1beta2.ConditionTrue,
			Reason: v1beta2.ReasonExpanded, Message: "The volume has its size."}, p.Now)
	}
	return list
}
