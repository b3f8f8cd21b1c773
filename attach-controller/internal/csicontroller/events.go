package csicontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/events"
)

const action = "AttachForKubernetes"

// eventsOf returns the events of a verdict that was written. They are emitted on the Longhorn Volume: a VolumeAttachment has no namespace
// for its events.
func eventsOf(w csi.World, v csi.Verdict) []events.Event {
	last := v.Steps[len(v.Steps)-1]
	if last.Kind == csi.StepRelease {
		return []events.Event{detachedEvent(w)}
	}
	if last.Kind != csi.StepStatus {
		return nil
	}
	switch now := w.Attachment; {
	case last.Status.Attached && !now.Attached:
		return []events.Event{attachedEvent(w)}
	case last.Status.AttachError != "" && last.Status.AttachError != now.AttachError:
		return []events.Event{refusedEvent(last.Status.AttachError)}
	case last.Status.DetachError != "" && last.Status.DetachError != now.DetachError:
		return []events.Event{stuckEvent(last.Status.DetachError)}
	}
	return nil
}

func attachedEvent(w csi.World) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "AttachedForKubernetes", Action: action,
		Note: fmt.Sprintf("Attached to node %s for PersistentVolume %s (VolumeAttachment %s).", w.NodeID(), w.Attachment.PersistentVolume,
			w.Attachment.Name)}
}

func detachedEvent(w csi.World) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "DetachedForKubernetes", Action: action,
		Note: fmt.Sprintf("Kubernetes does not use it on node %s any more (VolumeAttachment %s).", w.NodeID(), w.Attachment.Name)}
}

func refusedEvent(why string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "KubernetesAttachWaits", Action: action, Note: why}
}

func stuckEvent(why string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "KubernetesDetachWaits", Action: action, Note: why}
}
