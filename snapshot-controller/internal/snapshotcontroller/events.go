package snapshotcontroller

import (
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Actions of the events.
const (
	actionTake   = "TakeSnapshot"
	actionRemove = "RemoveSnapshot"
)

// eventsOf returns the events of a verdict whose step was done. Waiting in the queue is reported only by conditions.
func eventsOf(s *v1beta2.Snapshot, v snapshot.Verdict) []events.Event {
	switch v.Step {
	case snapshot.StepDelete:
		return []events.Event{deletedByPolicy(v)}
	case snapshot.StepDropFinalizer:
		return []events.Event{ended(v)}
	case snapshot.StepStatus:
		return changed(s, v)
	}
	return nil
}

func changed(s *v1beta2.Snapshot, v snapshot.Verdict) []events.Event {
	if s.DeletionTimestamp != nil || conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) == v.Reason {
		return nil
	}
	switch v.Reason {
	case v1beta2.ReasonReady:
		return []events.Event{taken(v)}
	case v1beta2.ReasonFailed, v1beta2.ReasonLimitReached, v1beta2.ReasonLost:
		return []events.Event{notReady(v)}
	}
	return nil
}

func taken(v snapshot.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "SnapshotReady", Action: actionTake, Note: v.Message}
}

func notReady(v snapshot.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "SnapshotNotReady", Action: actionTake, Note: v.Reason + ": " + v.Message}
}

func deletedByPolicy(v snapshot.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "DeletedByPolicy", Action: actionRemove, Note: v.Message}
}

func ended(v snapshot.Verdict) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "SnapshotEnded", Action: actionRemove, Note: v.Message}
}
