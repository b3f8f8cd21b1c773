package machine

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// expansion lets the running engine grow, and then records the size in the Replicas. A further size waits until the engine has the previous
// one: after an expansion that failed halfway its replicas may have that size, and an engine that starts accepts replicas of its old size
// or of the wanted one alone.
type expansion struct{ *draft }

func (x expansion) decide() {
	if !x.engineRuns() || x.Volume.Status.AcceptedSize == 0 { // the free space is not known yet
		return
	}
	wanted, e := v1beta2.SizeOf(x.Volume), x.engine
	if f := x.frontend; f != nil && f.Spec.Size < wanted {
		x.resizeFrontend(wanted)
	}
	unfinished := e.Status.CurrentSize > 0 && e.Status.CurrentSize < e.Spec.VolumeSize
	if e.Spec.VolumeSize < wanted && !unfinished {
		x.patch(StageRun, e, "volumeSize", size(wanted))
		return
	}
	if e.Status.CurrentSize < wanted || e.Status.IsExpanding {
		return
	}
	for _, r := range x.Replicas {
		if _, mapped := e.Spec.ReplicaAddressMap[r.Name]; mapped && r.Spec.VolumeSize < wanted {
			x.patch(StageRun, r, "volumeSize", size(wanted))
		}
	}
}

// setSize writes the volume's size to an engine and frontend that were created without it.
func (o opening) setSize() {
	wanted := v1beta2.SizeOf(o.Volume)
	if wanted <= 0 {
		return
	}
	if o.engine.Spec.VolumeSize <= 0 {
		o.patch(StageRun, o.engine, "volumeSize", size(wanted))
	}
	if f := o.frontend; f != nil && f.Spec.Size <= 0 {
		o.resizeFrontend(wanted)
	}
}

// expansionCondition adds the condition of a failed expansion, until the volume has its size.
func (t status) expansionCondition(list []v1beta2.Condition) []v1beta2.Condition {
	e := t.engine
	if e == nil {
		return list
	}
	required := e.Status.CurrentSize > 0 && e.Status.CurrentSize < t.Volume.Spec.Size
	switch {
	case required && e.Status.LastExpansionError != "":
		message := fmt.Sprintf("Engine %s has not grown: %s. It is tried again while the volume is attached.", e.Name,
			strings.TrimSuffix(e.Status.LastExpansionError, "."))
		return conditions.Set(list, v1beta2.Condition{Type: v1beta2.VolumeExpanded, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonExpansionFailed, Message: message}, t.Now)
	case !required && conditions.IsFalse(list, v1beta2.VolumeExpanded):
		return conditions.Set(list, v1beta2.Condition{Type: v1beta2.VolumeExpanded, Status: v1beta2.ConditionTrue,
			Reason: v1beta2.ReasonExpanded, Message: "The volume has its size."}, t.Now)
	}
	return list
}
