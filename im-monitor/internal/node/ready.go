package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// ready evaluates in this order: the machine first, since everything else follows from it; then pods; then answers.
func ready(w World) v1beta2.Condition {
	switch {
	case w.Kubernetes == nil:
		return notReady(v1beta2.ReasonKubernetesNodeGone, "No Kubernetes node %s exists: add it again, or delete this Node.", w.Name)
	case !w.Kubernetes.Ready:
		return notReady(v1beta2.ReasonKubernetesNodeNotReady, "The Kubernetes node %s is not ready (%s).", w.Name,
			w.Kubernetes.NotReadyMessage)
	}
	var pods, running, silent int
	for _, m := range w.Managers {
		if m.HasPod {
			pods++
		}
		if m.State == v1beta2.InstanceManagerStateRunning {
			running++
			if m.Answers == v1beta2.ConditionFalse {
				silent++
			}
		}
	}
	switch {
	case pods == 0:
		return notReady(v1beta2.ReasonManagerPodMissing, "%s", whyNoPod(w))
	case running == 0:
		return notReady(v1beta2.ReasonManagerPodDown, "No instance-manager pod of node %s runs; see the condition PodReady of %s.", w.Name,
			names(w.Managers))
	case silent == running:
		return notReady(v1beta2.ReasonInstanceManagerUnreachable,
			"The instance managers of node %s run but do not answer; see the condition Reachable of %s.", w.Name, names(w.Managers))
	}
	return v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady,
		Message: fmt.Sprintf("The Kubernetes node %s is ready and %d of its %d instance managers answer.", w.Name, running-silent,
			len(w.Managers))}
}

func notReady(reason, message string, args ...any) v1beta2.Condition {
	return v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: reason,
		Message: fmt.Sprintf(message, args...)}
}

func whyNoPod(w World) string {
	switch {
	case w.Settings.Image == "":
		return fmt.Sprintf("Node %s has no instance-manager pod because no image was chosen: set the Setting %s.", w.Name,
			setting.DefaultInstanceManagerImage)
	case !w.Kubernetes.Runs(v1beta2.DataEngineV1, w.Settings) && !w.Kubernetes.Runs(v1beta2.DataEngineV2, w.Settings):
		return fmt.Sprintf("Node %s has no instance-manager pod because no data engine is enabled on it: see the Settings %s, %s and %s.",
			w.Name, setting.V1DataEngine, setting.V2DataEngine, setting.NodeSelector)
	}
	return fmt.Sprintf("Node %s has no instance-manager pod yet; one is about to be made.", w.Name)
}

func schedulable(w World) v1beta2.Condition {
	if w.Kubernetes != nil && w.Kubernetes.Cordoned && w.Settings.DisableSchedulingOnCordoned {
		return v1beta2.Condition{Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionFalse,
			Reason:  v1beta2.ReasonKubernetesNodeCordoned,
			Message: fmt.Sprintf("The Kubernetes node %s is cordoned: it gets no new replica until it is uncordoned.", w.Name)}
	}
	return v1beta2.Condition{Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable,
		Message: fmt.Sprintf("Node %s is not cordoned.", w.Name)}
}

// readinessChanged is reported on a Node whose Ready condition changed its status or reason.
func readinessChanged(c v1beta2.Condition) events.Event {
	kind := corev1.EventTypeWarning
	if c.Status == v1beta2.ConditionTrue {
		kind = corev1.EventTypeNormal
	}
	return events.Event{Type: kind, Reason: c.Reason, Action: "JudgeNode", Note: c.Message}
}
