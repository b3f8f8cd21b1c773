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

// triesImage reports whether a pod's only purpose is to try an image.
func triesImage(pod *corev1.Pod) bool { return pod.Labels[v1beta2.LabelComponent] == componentCheck }

// pulls reports whether a node can have the image of a pod.
func pulls(pod *corev1.Pod) bool { return !strings.Contains(container(pod).Image, noImage) }

// tryImage ends a pod that tries an image well.
func (k *Kubelet) tryImage(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.NewTime(k.options.Clock.Now())
	c, status := container(pod), baseStatus(pod, corev1.PodSucceeded, false)
	c.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
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
