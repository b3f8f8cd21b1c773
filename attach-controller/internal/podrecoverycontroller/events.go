package podrecoverycontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/shared/events"
)

const action = "RecoverPod"

// deletion is one object to delete, and its event.
type deletion struct {
	object  client.Object
	options []client.DeleteOption
	// regarding are the objects that event is about.
	regarding []runtime.Object
	event     events.Event
}

// deletions are those of a verdict, each with its Volumes: a pod is deleted once, so that none of its events is emitted twice.
func deletions(s *seen, v podrecovery.Verdict) []deletion {
	pod := s.pod.Namespace + "/" + s.pod.Name
	switch v.Action {
	case podrecovery.ActionDelete:
		return []deletion{ofPod(s, v, podrecovery.GracePeriod,
			warning("PodDeleted", "Pod %s is deleted, so that its controller creates another one. %s", pod, v.Why))}
	case podrecovery.ActionForceDelete:
		return []deletion{ofPod(s, v, 0, warning("PodForceDeleted", "Pod %s is deleted by force. %s", pod, v.Why))}
	}
	var out []deletion
	for _, d := range v.Detachments {
		out = append(out, deletion{object: s.attachments[d.Attachment], regarding: []runtime.Object{s.volumes[d.Volume]},
			event: warning("AttachmentDeleted", "VolumeAttachment %s of Kubernetes is deleted. %s", d.Attachment, d.Why)})
	}
	return out
}

func ofPod(s *seen, v podrecovery.Verdict, grace int64, e events.Event) deletion {
	d := deletion{object: s.pod, options: []client.DeleteOption{client.GracePeriodSeconds(grace)}, regarding: []runtime.Object{s.pod},
		event: e}
	for _, name := range v.Volumes {
		d.regarding = append(d.regarding, s.volumes[name])
	}
	return d
}

func (r *reconciler) emit(d deletion, e events.Event) {
	for _, object := range d.regarding {
		events.Emit(r.rt.Recorder, object, e)
	}
}

// refused is what is emitted where the API server refuses to delete a VolumeAttachment.
func refused(name string, answer error) events.Event {
	return warning("AttachmentNotDeleted", "VolumeAttachment %s of Kubernetes, which holds the volume on a node that is down, is not "+
		"deleted. Allow attach-controller to delete volumeattachments.storage.k8s.io, or run "+
		"kubectl delete volumeattachments.storage.k8s.io %s. The API server answered: %s",
		name, name, answer)
}

func warning(reason, format string, args ...any) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Note: fmt.Sprintf(format, args...)}
}
