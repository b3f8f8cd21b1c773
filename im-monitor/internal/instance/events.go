package instance

import (
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

const actionRun = "RunInstance"

// transitions are the events of states that a person has to check; all other states are in the status only.
func transitions(w World, v Verdict) []events.Event {
	before, after := w.Status, v.Status
	switch {
	case after.NodeDown != "" && before.NodeDown == "":
		return []events.Event{concludedEvent(after.NodeDown, v.Message)}
	case after.State == v1beta2.InstanceStateError && before.State != after.State:
		return []events.Event{failedEvent(v.Reason, v.Message)}
	}
	return nil
}

// failedEvent is reported about an object whose instance failed, is missing, or was refused.
func failedEvent(reason, message string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: reason, Action: actionRun, Note: message}
}

// concludedEvent is reported about an object that counts as stopped although no list showed it.
func concludedEvent(reason, message string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: reason, Action: actionRun, Note: message}
}
