package why

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// mostEvents is how many instances' events are worth asking for.
const mostEvents = 3

// Late returns the names of instances that are not in the state that is wanted, frontends first: what holds those up is known from their
// events alone.
func Late(w *world.World) []string {
	e := explanation{world: w, volume: &w.Volumes.Items[0], seen: map[finding.Ref]bool{}}
	var names []string
	for _, one := range e.all() {
		if _, late := one.late(w); late && len(names) < mostEvents {
			names = append(names, one.ref.Name)
		}
	}
	return names
}

// events returns the newest warning about an instance: what it waits for, which no condition says.
func (e *explanation) events(ref finding.Ref) []Cause {
	var event *corev1.Event
	for i := range e.world.Events.Items {
		one := &e.world.Events.Items[i]
		if one.InvolvedObject.Kind != ref.Kind || one.InvolvedObject.Name != ref.Name || one.Type != corev1.EventTypeWarning {
			continue
		}
		if event == nil || seenAt(one).After(seenAt(event)) {
			event = one
		}
	}
	if event == nil {
		return nil
	}
	return []Cause{{Finding: finding.Finding{Object: ref, Part: "event", Reason: event.Reason, Message: event.Message,
		Since: seenAt(event).UTC().Format(time.RFC3339), Severity: finding.Warning, Guide: "docs/attaching.md",
		Command: e.world.Suggest("kubectl -n {ns} get events --field-selector involvedObject.name={name}", world.Values{"name": ref.Name})}}}
}

// seenAt returns when an event was last seen.
func seenAt(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	}
	return event.EventTime.Time
}
