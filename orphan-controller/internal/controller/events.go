package controller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// Actions of the events.
const (
	actionCleanup = "Cleanup"
	actionRead    = "ReadSetting"
	actionMigrate = "MigrateSetting"
)

// eventsOf returns the event of a verdict whose step was done.
func eventsOf(o *v1beta2.Orphan, v orphan.Verdict) []events.Event {
	switch v.Event {
	case orphan.EventApproved:
		return one(approvedEvent(v))
	case orphan.EventHeld:
		return one(heldEvent(v))
	case orphan.EventWouldDelete:
		return one(wouldDeleteEvent(v))
	case orphan.EventDeleted:
		return one(deletedEvent(o))
	case orphan.EventWithdrawn:
		return one(withdrawnEvent(v))
	case orphan.EventEnded:
		return one(endedEvent(v))
	case orphan.EventCleaned:
		return one(cleanedEvent(o))
	}
	return nil
}

func one(e events.Event) []events.Event { return []events.Event{e} }

func approvedEvent(v orphan.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "CleanupApproved", Action: actionCleanup, Note: v.Message}
}

// heldEvent is a warning where a person must act. Waiting for a time or for the rate limit is normal.
func heldEvent(v orphan.Verdict) events.Event {
	kind := corev1.EventTypeNormal
	switch v.Outcome {
	case v1beta2.ReasonLastCopy, v1beta2.ReasonFlood, v1beta2.ReasonNotAbandoned, v1beta2.ReasonMappedByEngine, v1beta2.ReasonNotJudged:
		kind = corev1.EventTypeWarning
	}
	return events.Event{Type: kind, Reason: "CleanupHeld", Action: actionCleanup, Note: v.Outcome + ": " + v.Message}
}

func wouldDeleteEvent(v orphan.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "WouldDelete", Action: actionCleanup, Note: v.Message}
}

func deletedEvent(o *v1beta2.Orphan) events.Event {
	return events.Event{
		Type: corev1.EventTypeNormal, Reason: "DeletedByPolicy", Action: actionCleanup,
		Note: fmt.Sprintf("Policy (%s) deleted the orphan of %s.", deletionReason(o), describe(o)),
	}
}

func withdrawnEvent(v orphan.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "Withdrawn", Action: actionCleanup, Note: "Nothing was executed. " +
		v.Message}
}

func endedEvent(v orphan.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "EndedWithoutCleanup", Action: actionCleanup, Note: v.Outcome + ": " +
		v.Message}
}

func cleanedEvent(o *v1beta2.Orphan) events.Event {
	return events.Event{
		Type: corev1.EventTypeNormal, Reason: "Cleaned", Action: actionCleanup,
		Note: fmt.Sprintf("The end of %s is proven; the orphan is removed.", describe(o)),
	}
}

func settingInvalidEvent(name string, err error) events.Event {
	return events.Event{
		Type: corev1.EventTypeWarning, Reason: "SettingInvalid", Action: actionRead,
		Note: fmt.Sprintf("%s is not understood: %v. The last good value stays in force; after a restart of orphan-controller auto "+
			"deletion is off. Correct the setting's value.", name, err),
	}
}

func migratedEvent(old, merged string) events.Event {
	return events.Event{
		Type: corev1.EventTypeNormal, Reason: "Migrated", Action: actionMigrate,
		Note: fmt.Sprintf("%s became orphan-resource-auto-deletion=%q.", old, merged),
	}
}

func migrationWaitsEvent(err error) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "MigrationWaits", Action: actionMigrate, Note: err.Error()}
}

func describe(o *v1beta2.Orphan) string {
	p := o.Spec.Parameters
	if p[v1beta2.OrphanParameterDiskType] == v1beta2.DiskTypeBlock {
		return fmt.Sprintf("the data of %s on disk %s of node %s", p[v1beta2.OrphanParameterDataName], p[v1beta2.OrphanParameterDiskName],
			o.Spec.NodeID)
	}
	if o.Spec.OrphanType == v1beta2.OrphanTypeReplicaData {
		return "a replica directory on node " + o.Spec.NodeID
	}
	return fmt.Sprintf("instance %s with UUID %s in %s", p[v1beta2.OrphanParameterInstanceName],
		p[v1beta2.OrphanParameterInstanceUUID], p[v1beta2.OrphanParameterInstanceManager])
}
