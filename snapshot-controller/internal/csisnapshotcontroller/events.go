package csisnapshotcontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/events"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

const action = "SnapshotForKubernetes"

// eventsOf returns the events of a verdict that was written. They are reported about the Longhorn Volume: a
// VolumeSnapshotContent has no namespace that events of it could go to.
func eventsOf(w csisnapshot.World, v csisnapshot.Verdict) []events.Event {
	switch {
	case v.Step == csisnapshot.StepRelease:
		return []events.Event{endedEvent(w)}
	case v.Step != csisnapshot.StepStatus:
		return nil
	case v.Status.Ready && !w.Content.Status.Ready:
		return []events.Event{readyEvent(w, v.Status)}
	case v.Status.Error != "" && v.Status.Error != w.Content.Status.Error:
		return []events.Event{notReadyEvent(w, v.Status)}
	}
	return nil
}

func readyEvent(w csisnapshot.World, s csisnapshot.Status) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "KubernetesSnapshotReady", Action: action,
		Note: fmt.Sprintf("%s can be used (VolumeSnapshotContent %s).", s.Handle, w.Content.Name)}
}

func notReadyEvent(w csisnapshot.World, s csisnapshot.Status) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "KubernetesSnapshotWaits", Action: action,
		Note: fmt.Sprintf("VolumeSnapshotContent %s: %s", w.Content.Name, s.Error)}
}

func endedEvent(w csisnapshot.World) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "KubernetesSnapshotEnded", Action: action,
		Note: fmt.Sprintf("Kubernetes does not know of it any more (VolumeSnapshotContent %s).", w.Content.Name)}
}
