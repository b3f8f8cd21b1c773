package instancecontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/events"
)

const actionRun = "RunInstance"

// waitingEvent is emitted about an object whose instance cannot be started or ended for a reason that a person may have to check.
func waitingEvent(v instance.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: v.Reason, Action: actionRun, Note: v.Message}
}

// lostEvent is reported about a frontend that a live upgrade lost.
func lostEvent(message string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: instance.ReasonFrontendLost, Action: actionRun, Note: message}
}

// refusedEvent is reported about an object whose instance manager declined a call.
func refusedEvent(key Key, call instance.Call, err error) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "CallRefused", Action: actionRun,
		Note: fmt.Sprintf("%s refused to %s %s: %v. The call is repeated.", call.InstanceManager, call.Op, key.Name, err)}
}
