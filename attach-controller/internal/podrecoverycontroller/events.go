package podrecoverycontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/shared/events"
)

const action = "RecoverPod"

// announce says on the Volumes, and on a pod that is deleted, what was done: a pod is deleted once, so that none of its events is said twice.
func (r *reconciler) announce(s *seen, v podrecovery.Verdict) {
	e := eventOf(s, v)
	for _, name := range v.Volumes {
		events.Emit(r.rt.Recorder, s.volumes[name], e)
	}
	if v.Action != podrecovery.ActionDetach {
		events.Emit(r.rt.Recorder, s.pod, e)
	}
}

func eventOf(s *seen, v podrecovery.Verdict) events.Event {
	e := events.Event{Type: corev1.EventTypeWarning, Action: action}
	pod := s.pod.Namespace + "/" + s.pod.Name
	switch v.Action {
	case podrecovery.ActionDelete:
		e.Reason, e.Note = "PodDeleted", fmt.Sprintf("Pod %s is deleted, so that its controller makes another one. %s", pod, v.Why)
	case podrecovery.ActionForceDelete:
		e.Reason, e.Note = "PodForceDeleted", fmt.Sprintf("Pod %s is deleted by force. %s", pod, v.Why)
	default:
		e.Reason, e.Note = "AttachmentDeleted", fmt.Sprintf("VolumeAttachment %s of Kubernetes is deleted. %s", v.Attachments[0], v.Why)
	}
	return e
}
