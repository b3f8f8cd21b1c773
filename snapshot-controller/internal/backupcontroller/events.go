package backupcontroller

import (
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/snapshot-controller/internal/backup"
)

// eventsOf returns the events of a verdict whose step was done. Waiting in a queue is reported only by the condition.
func eventsOf(w *backup.World, v backup.Verdict) []events.Event {
	before := conditions.Reason(w.Backup.Status.Conditions, v1beta2.BackupApproved)
	switch {
	case v.Step == backup.StepDropFinalizer:
		return []events.Event{ended(v.Message)}
	case v.Step == backup.StepSay && v.Stall != nil && !backup.IsStalled(w.Backup):
		return []events.Event{{Type: corev1.EventTypeWarning, Reason: "BackupStalled", Action: "ApproveBackup", Note: v.Stall.Message}}
	case v.Step != backup.StepSay || v.Reason == before:
		return nil
	case v.Reason == v1beta2.ReasonReady:
		return []events.Event{approved(v.Message)}
	case v.Reason != v1beta2.ReasonWaitingForAttach && v.Reason != v1beta2.ReasonFailed: // im-monitor has an event of a failed copy
		return []events.Event{waits(v)}
	}
	return nil
}

func approved(note string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "BackupApproved", Action: "ApproveBackup", Note: note}
}

func waits(v backup.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "BackupWaits", Action: "ApproveBackup", Note: v.Reason + ": " + v.Message}
}

// ended is reported of a Backup that was deleted: what is in the target stays.
func ended(note string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "BackupEnded", Action: "EndBackup", Note: note}
}
