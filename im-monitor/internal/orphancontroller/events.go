package orphancontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

const (
	actionEvaluate = "JudgeInstance"
	actionCleanUp  = "CleanUpInstance"
)

// noUUIDEvent is reported about the InstanceManager of an instance that appears orphaned and has no UUID.
func noUUIDEvent(j orphan.Evaluation) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: v1beta2.ReasonNoUUID, Action: actionEvaluate,
		Note: j.Message + " It is evaluated again when it has one."}
}

// reverificationEvent is reported about the InstanceManager of an instance that appeared orphaned and did not pass the re-verification.
func reverificationEvent(key orphan.Key, first, second orphan.Evaluation) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: v1beta2.ReasonSecondLookDisagrees, Action: actionEvaluate,
		Note: fmt.Sprintf("%s appeared orphaned (%s); the re-verification reports %s %s.", key.Name, first.Reason, second.Decision,
			second.Reason)}
}

// createdEvent is reported about a new Orphan.
func createdEvent(message string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: v1beta2.OrphanOrphaned, Action: actionEvaluate, Note: message}
}

// withdrawnEvent is emitted about an Orphan that is withdrawn.
func withdrawnEvent(reason, message string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: reason, Action: actionEvaluate, Note: message}
}

// terminatedEvent is reported about an Orphan whose instance's end is proven.
func terminatedEvent(message string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "InstanceDeleted", Action: actionCleanUp, Note: message}
}

// failedEvent is reported about an Orphan when the reason of its failure changes.
func failedEvent(f orphan.Failure) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: f.Reason, Action: actionCleanUp, Note: f.Message}
}

// engineSkippedEvent is reported about an Orphan of an engine whose server no longer reports its UUID.
func engineSkippedEvent(name string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "EngineSkipped", Action: actionCleanUp,
		Note: fmt.Sprintf("Engine %s is not deleted: its server does not report the UUID, so the call could delete another engine. "+
			"Upgrade the instance manager.", name)}
}
