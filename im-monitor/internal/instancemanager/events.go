package instancemanager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
)

// transitions are the events of one verdict: what is done to the pod, the end of the instance manager, and silence that
// began or ended. Nothing that lasts is repeated.
func transitions(w World, v Verdict) []events.Event {
	var out []events.Event
	switch {
	case v.Pod == CreatePod:
		out = append(out, podCreated(w))
	case v.Pod == DeletePod && v.Failed:
		out = append(out, podFailed(w))
	case v.Pod == DeletePod || v.Pod == ForceDeletePod:
		out = append(out, podDeleted(w, v))
	}
	if v.Remove {
		out = append(out, removed(w))
	}
	if refused := newlyRefused(w, v); refused != nil {
		out = append(out, *refused)
	}
	was := conditions.Get(w.InstanceManager.Status.Conditions, v1beta2.InstanceManagerReachable)
	is := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerReachable)
	switch {
	case is == nil || (was != nil && was.Status == is.Status):
	case is.Status == v1beta2.ConditionFalse:
		out = append(out, unreachable(w, *is))
	case was != nil:
		out = append(out, reachableAgain(w))
	}
	return out
}

func podCreated(w World) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "PodCreated", Action: "CreatePod",
		Note: fmt.Sprintf("Made the instance-manager pod of node %s with image %s.", w.InstanceManager.Spec.NodeID,
			w.InstanceManager.Spec.Image)}
}

// newlyRefused returns the event of a pod that may not be made, once for each cause.
func newlyRefused(w World, v Verdict) *events.Event {
	was := conditions.Get(w.InstanceManager.Status.Conditions, v1beta2.InstanceManagerPodReady)
	is := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerPodReady)
	if v.Remove || is == nil || is.Reason != v1beta2.ReasonPodRefused || was != nil && was.Reason == is.Reason && was.Message == is.Message {
		return nil
	}
	return &events.Event{Type: corev1.EventTypeWarning, Reason: v1beta2.ReasonPodRefused, Action: "CreatePod",
		Note: fmt.Sprintf("No instance-manager pod is made on node %s. %s", w.InstanceManager.Spec.NodeID, is.Message)}
}

func podFailed(w World) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "PodFailed", Action: "ReplacePod",
		Note: fmt.Sprintf("The instance-manager pod of node %s ended by itself%s and is replaced; v1 instances and v2 engines ended "+
			"with it.", w.InstanceManager.Spec.NodeID, because(w.Pod))}
}

func podDeleted(w World, v Verdict) events.Event {
	why := "nothing runs on it and its image or settings are out of date"
	if w.replaced() {
		why = "a live upgrade replaces it, and no engine needs it"
	}
	if v.Pod == ForceDeletePod {
		why = "the node is gone"
	}
	return events.Event{Type: corev1.EventTypeNormal, Reason: "PodDeleted", Action: "DeletePod",
		Note: fmt.Sprintf("Deleted the instance-manager pod of node %s: %s.", w.InstanceManager.Spec.NodeID, why)}
}

func removed(w World) events.Event {
	why := "it is not wanted any more and nothing runs on it"
	if w.replaced() {
		why = "a live upgrade replaced it"
	}
	return events.Event{Type: corev1.EventTypeNormal, Reason: "Removed", Action: "RemoveInstanceManager",
		Note: fmt.Sprintf("Removed the instance manager of node %s with image %s: %s.", w.InstanceManager.Spec.NodeID,
			w.InstanceManager.Spec.Image, why)}
}

func unreachable(w World, c v1beta2.Condition) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: c.Reason, Action: "ReadInstances",
		Note: fmt.Sprintf("The instance manager of node %s does not answer. %s", w.InstanceManager.Spec.NodeID, c.Message)}
}

func reachableAgain(w World) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: v1beta2.ReasonAnswering, Action: "ReadInstances",
		Note: fmt.Sprintf("The instance manager of node %s answers again.", w.InstanceManager.Spec.NodeID)}
}
