package snapshotexecutor

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// saidEvent is emitted about a Snapshot when a condition of it changed.
func saidEvent(c v1beta2.Condition) events.Event {
	kind := corev1.EventTypeNormal
	if c.Reason == v1beta2.ReasonFailed || c.Type == v1beta2.SnapshotRemovalFailed {
		kind = corev1.EventTypeWarning
	}
	return events.Event{Type: kind, Reason: c.Reason, Action: "LookAtSnapshots", Note: c.Message}
}

// mirroredEvent is reported about an Engine that has a snapshot which had no object.
func mirroredEvent(name string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "SnapshotFound", Action: "LookAtSnapshots",
		Note: fmt.Sprintf("The engine has snapshot %s, which had no Snapshot: one was created.", name)}
}

// failedEvent is emitted about an Engine on which a call failed.
func failedEvent(op string, err error, names []string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: failures[op], Action: op, Note: fmt.Sprintf("Snapshots %q: %v", names, err)}
}
