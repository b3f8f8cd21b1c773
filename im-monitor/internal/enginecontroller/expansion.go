package enginecontroller

import (
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// reportExpansion emits the event of an expansion that failed after its OK.
func (c *Controller) reportExpansion(e *v1beta2.Engine, v engine.Verdict) {
	if v.ExpansionFailed {
		events.Emit(c.rt.Recorder, e, events.Event{Type: corev1.EventTypeWarning, Reason: "ExpansionFailed", Action: "PollEngine",
			Note: "The volume has not grown: " + v.Status.LastExpansionError + "."})
	}
}
