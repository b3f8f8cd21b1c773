package recurringcontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// Actions of the events.
const (
	actionRun    = "RunJob"
	actionRetain = "RetainSnapshots"
	actionRemove = "RemoveSnapshots"
)

// eventsOf returns the events of a status that was written.
func eventsOf(job *v1beta2.RecurringJob, v recurring.Verdict) []events.Event {
	switch {
	case conditions.IsFalse(v.Status.Conditions, v1beta2.RecurringJobRetained) &&
		!conditions.IsFalse(job.Status.Conditions, v1beta2.RecurringJobRetained):
		why := conditions.Get(v.Status.Conditions, v1beta2.RecurringJobRetained).Message
		return []events.Event{ran(v.Message), {Type: corev1.EventTypeWarning, Reason: "RetentionBlocked", Action: actionRetain, Note: why}}
	case v.Status.ExecutionCount != job.Status.ExecutionCount:
		return []events.Event{ran(v.Message)}
	case v.Status.CurrentRun != job.Status.CurrentRun && v.Status.CurrentRun != "":
		return []events.Event{started(v.Message)}
	case v.Reason != v1beta2.ReasonScheduled && v.Reason != conditions.Reason(job.Status.Conditions, v1beta2.RecurringJobReady):
		return []events.Event{notScheduled(v)}
	}
	return nil
}

func started(note string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "RunStarted", Action: actionRun, Note: note}
}

func ran(note string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "RunEnded", Action: actionRun, Note: note}
}

func notScheduled(v recurring.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "NotScheduled", Action: actionRun, Note: v.Reason + ": " + v.Message}
}

func removed(count int) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "SnapshotsDeleted", Action: actionRemove,
		Note: fmt.Sprintf("%d Snapshots were deleted, as is the job's task.", count)}
}

func retained(count int) events.Event {
	return events.Event{
		Type: corev1.EventTypeNormal, Reason: "SurplusDeleted", Action: actionRetain,
		Note: fmt.Sprintf("%d Snapshots beyond those that are kept were deleted.", count),
	}
}

func retainedBackups(count int) events.Event {
	return events.Event{
		Type: corev1.EventTypeNormal, Reason: "SurplusBackupsDeleted", Action: actionRetain,
		Note: fmt.Sprintf("%d Backups beyond those that are kept were deleted; their data stays in the target.", count),
	}
}
