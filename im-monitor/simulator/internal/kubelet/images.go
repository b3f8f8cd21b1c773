package kubelet

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/managerimage/scripts"
)

const (
	// componentCheck and managedByUpgrades label the pods by which upgrade-controller tries whether a node can run an image.
	componentCheck    = "upgrade-image-check"
	managedByUpgrades = "upgrade-controller"
	// noImage is what the name of an image contains that no node can pull.
	noImage = "missing"
	// pullFailed is why a container waits for such an image.
	pullFailed = "ErrImagePull"
)

// triesImage reports whether a pod's only purpose is to try an image.
func triesImage(pod *corev1.Pod) bool { return component(pod) == componentCheck }

func component(pod *corev1.Pod) string { return pod.Labels[v1beta2.LabelComponent] }

// runs reports whether a pod is one of those that are played here: somebody else's instance manager is not.
func runs(pod *corev1.Pod) bool {
	by := pod.Labels[v1beta2.LabelManagedBy]
	return component(pod) == v1beta2.ComponentEngineImage || component(pod) == componentVersion ||
		by == v1beta2.ManagedByLonghornManager || by == managedByUpgrades
}

// pulls reports whether a node can have the image of a pod.
func pulls(pod *corev1.Pod) bool { return !strings.Contains(container(pod).Image, noImage) }

// lackOf returns what a check finds lacking; a command that is no check is not found in the image.
func lackOf(pod *corev1.Pod) string {
	if len(pod.Spec.Containers) != 1 || !slices.Equal(pod.Spec.Containers[0].Command, managerimage.CheckCommand()) {
		return "exec failed: no such file"
	}
	return managerimage.CheckedBy(pod.Spec.Containers[0].Args, scripts.Of(pod.Spec.Containers[0].Image).Files())
}

// endedAtStart is the status of a pod whose container ended at once.
func endedAtStart(pod *corev1.Pod, cause error) corev1.PodStatus {
	status := failed(pod, "Error")
	status.ContainerStatuses[0].State.Terminated.ExitCode = 1
	status.ContainerStatuses[0].State.Terminated.Message = cause.Error()
	return status
}

// tryImage runs the check of a pod that tries an image on the scripts of that image.
func (k *Kubelet) tryImage(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.NewTime(k.options.Clock.Now())
	phase, end := corev1.PodSucceeded, &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
	if lack := lackOf(pod); lack != "" {
		phase, end.Reason, end.ExitCode, end.Message = corev1.PodFailed, "Error", 1, lack
	}
	c, status := container(pod), baseStatus(pod, phase, false)
	c.State.Terminated = end
	status.ContainerStatuses = []corev1.ContainerStatus{c}
	return k.writeStatus(ctx, pod, status)
}

// cannotPull lets a pod wait for an image that does not exist.
func (k *Kubelet) cannotPull(ctx context.Context, pod *corev1.Pod) error {
	if len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Waiting != nil {
		return nil
	}
	c, status := container(pod), baseStatus(pod, corev1.PodPending, false)
	c.ImageID, c.State.Waiting = "", &corev1.ContainerStateWaiting{Reason: pullFailed, Message: "image " + c.Image + " not found"}
	status.ContainerStatuses = []corev1.ContainerStatus{c}
	return k.writeStatus(ctx, pod, status)
}
