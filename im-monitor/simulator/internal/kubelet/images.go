package kubelet

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
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

// triesImage tells that a pod's only purpose is to try an image.
func triesImage(pod *corev1.Pod) bool { return pod.Labels[v1beta2.LabelComponent] == componentCheck }

// tryImage ends a pod that tries an image well, or lets it wait for an image that does not exist.
func (k *Kubelet) tryImage(ctx context.Context, pod *corev1.Pod) error {
	c := container(pod)
	if !strings.Contains(c.Image, noImage) {
		now := metav1.NewTime(k.options.Clock.Now())
		status := baseStatus(pod, corev1.PodSucceeded, false)
		c.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
		status.ContainerStatuses = []corev1.ContainerStatus{c}
		return k.writeStatus(ctx, pod, status)
	}
	if len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Waiting != nil {
		return nil
	}
	status := baseStatus(pod, corev1.PodPending, false)
	c.ImageID, c.State.Waiting = "", &corev1.ContainerStateWaiting{Reason: pullFailed, Message: "image " + c.Image + " not found"}
	status.ContainerStatuses = []corev1.ContainerStatus{c}
	return k.writeStatus(ctx, pod, status)
}
