package removalcontroller

import (
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

const actionRemove = "RemoveReplicaData"

// removedEvent is reported about a Replica of which nothing is left, or nothing can be reached any more.
func removedEvent(c v1beta2.Condition) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: c.Reason, Action: actionRemove, Note: c.Message}
}

// heldUpEvent is reported about a Replica when the reason changes for which its data stays.
func heldUpEvent(c v1beta2.Condition) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: c.Reason, Action: actionRemove, Note: c.Message}
}
