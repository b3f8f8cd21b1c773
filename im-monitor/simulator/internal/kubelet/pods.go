package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

// reconcilePod makes a node do what the API server reports of one pod, if the node can hear it.
func (k *Kubelet) reconcilePod(ctx context.Context, name string) error {
	pod, err := k.pods.Get(name)
	if apierrors.IsNotFound(err) {
		pod = nil
	} else if err != nil {
		return fmt.Errorf("reading pod %s: %w", name, err)
	}
	running, here := k.options.Machine.Pod(name)
	if here && (pod == nil || string(pod.UID) != running.UID) {
		if state, ok := k.options.Machine.NodeState(running.Node); ok && state == machine.Cut {
			return nil
		}
		k.options.Machine.StopPod(name)
		here = false
	}
	if pod == nil {
		return k.removeEngine(name)
	}
	if pod.Spec.NodeName == "" || !runs(pod) {
		return nil
	}
	if !k.hears(pod.Spec.NodeName) {
		return nil
	}
	if pod.DeletionTimestamp != nil {
		if err := k.removeEngine(name); err != nil {
			return err
		}
		return k.finish(ctx, pod)
	}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	switch {
	case !here && !pulls(pod):
		return k.cannotPull(ctx, pod)
	case triesImage(pod):
		return k.tryImage(ctx, pod)
	case component(pod) == v1beta2.ComponentEngineImage:
		return k.putEngine(ctx, pod)
	case component(pod) == componentVersion:
		return k.readVersion(ctx, pod)
	}
	return k.run(ctx, pod, running, here)
}

// run starts a pod's process if it never ran, and writes what became of it.
func (k *Kubelet) run(ctx context.Context, pod *corev1.Pod, running machine.Pod, here bool) error {
	if !here && pod.Status.Phase == corev1.PodRunning {
		return k.writeStatus(ctx, pod, failed(pod, "ContainerStatusUnknown"))
	}
	if !here {
		started, err := k.options.Machine.StartPod(pod.Name, string(pod.UID), pod.Spec.NodeName, engineOf(pod), containerOf(pod))
		switch {
		case errors.Is(err, machine.ErrEnded):
			k.options.Log.Warn("the container ends at its start", "pod", pod.Name, "error", err)
			return k.writeStatus(ctx, pod, endedAtStart(pod, err))
		case err != nil:
			return fmt.Errorf("starting pod %s: %w", pod.Name, err)
		}
		running = started
	}
	if running.Exited {
		return k.writeStatus(ctx, pod, failed(pod, running.ExitReason))
	}
	if upToDate(pod, running) {
		return nil
	}
	return k.writeStatus(ctx, pod, runningStatus(pod, running))
}

// finish ends a deleted pod's process and removes the pod.
func (k *Kubelet) finish(ctx context.Context, pod *corev1.Pod) error {
	k.options.Machine.StopPod(pod.Name)
	grace := int64(0)
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace,
		Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("removing pod %s: %w", pod.Name, err)
	}
	return nil
}

// engineOf is the data engine that a pod is for.
func engineOf(pod *corev1.Pod) string {
	if pod.Labels[v1beta2.LabelDataEngine] == dataplane.V2 {
		return dataplane.V2
	}
	return dataplane.V1
}

// upToDate reports whether the API server knows this run of the container.
func upToDate(pod *corev1.Pod, p machine.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP != p.IP || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	c := pod.Status.ContainerStatuses[0]
	return c.ContainerID == p.ContainerID && c.RestartCount == p.Restarts && c.Ready == p.Ready
}

// writeStatus replaces a pod's status, unless the pod is another one by now.
func (k *Kubelet) writeStatus(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("encoding the status of pod %s: %w", pod.Name, err)
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing the status of pod %s: %w", pod.Name, err)
	}
	return nil
}

// runningStatus is the status of a pod whose process runs, or is down between two runs.
func runningStatus(pod *corev1.Pod, p machine.Pod) corev1.PodStatus {
	started := metav1.NewTime(p.Started)
	status := baseStatus(pod, corev1.PodRunning, p.Ready)
	status.PodIP, status.PodIPs = p.IP, []corev1.PodIP{{IP: p.IP}}
	status.HostIP, status.HostIPs = p.IP, []corev1.HostIP{{IP: p.IP}}
	status.StartTime = &started
	if pod.Status.StartTime != nil {
		status.StartTime = pod.Status.StartTime
	}
	c := container(pod)
	c.ContainerID, c.RestartCount, c.Ready, c.Started = p.ContainerID, p.Restarts, p.Ready, &p.Ready
	if p.Ready {
		c.State.Running = &corev1.ContainerStateRunning{StartedAt: started}
	} else {
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	}
	status.ContainerStatuses = []corev1.ContainerStatus{c}
	return status
}

// failed is the status of a pod whose process is gone for good.
func failed(pod *corev1.Pod, reason string) corev1.PodStatus {
	status := baseStatus(pod, corev1.PodFailed, false)
	status.Reason = reason
	status.StartTime, status.PodIP, status.PodIPs = pod.Status.StartTime, pod.Status.PodIP, pod.Status.PodIPs
	c := container(pod)
	if len(pod.Status.ContainerStatuses) > 0 {
		c.ContainerID, c.RestartCount = pod.Status.ContainerStatuses[0].ContainerID, pod.Status.ContainerStatuses[0].RestartCount
	}
	c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: reason, ContainerID: c.ContainerID,
		FinishedAt: metav1.Now()}
	status.ContainerStatuses = []corev1.ContainerStatus{c}
	return status
}

func container(pod *corev1.Pod) corev1.ContainerStatus {
	c := corev1.ContainerStatus{Name: "instance-manager"}
	if len(pod.Spec.Containers) > 0 {
		c.Name, c.Image, c.ImageID = pod.Spec.Containers[0].Name, pod.Spec.Containers[0].Image, pod.Spec.Containers[0].Image
	}
	return c
}

// baseStatus has the conditions; a condition whose status is as before keeps its time.
func baseStatus(pod *corev1.Pod, phase corev1.PodPhase, ready bool) corev1.PodStatus {
	value := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}
	status := corev1.PodStatus{Phase: phase, QOSClass: pod.Status.QOSClass}
	for _, c := range []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: value[ready]},
		{Type: corev1.PodReady, Status: value[ready]},
	} {
		c.LastTransitionTime = metav1.Now()
		same := func(old corev1.PodCondition) bool { return old.Type == c.Type && old.Status == c.Status }
		if i := slices.IndexFunc(pod.Status.Conditions, same); i >= 0 {
			c.LastTransitionTime = pod.Status.Conditions[i].LastTransitionTime
		}
		status.Conditions = append(status.Conditions, c)
	}
	return status
}
