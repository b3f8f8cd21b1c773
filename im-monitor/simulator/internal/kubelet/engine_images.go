package kubelet

import (
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// componentVersion labels the pods by which im-monitor reads the versions of an engine binary.
	componentVersion = "engine-image-version"
	// binaryInImage is where every engine image has its binary.
	binaryInImage = "/usr/local/bin/longhorn"
	// shells are what an engine image can run as the first word of a command.
	shells = "/bin/bash /bin/sh"
)

// placed is where a pod has put the engine binary.
type placed struct{ uid, node, directory string }

// putEngine runs a pod of an engine image: its command copies the binary into the directory of the host that it has at /data. A pod whose
// command does not, or that has no such directory, runs and is never ready.
func (k *Kubelet) putEngine(ctx context.Context, pod *corev1.Pod) error {
	c := pod.Spec.Containers[0]
	if len(c.Command) == 0 || !strings.Contains(shells, c.Command[0]) {
		return k.writeStatus(ctx, pod, endedAtStart(pod, errors.New("exec failed: no such file")))
	}
	directory := containerOf(pod).Mounts["/data"]
	script := strings.Join(c.Command, " ")
	copies := directory != "" && strings.Contains(script, binaryInImage) && strings.Contains(script, "/data/longhorn") &&
		c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	if copies {
		if err := k.options.Machine.PutEngine(pod.Spec.NodeName, directory, c.Image); err != nil {
			return err
		}
		k.engines.Store(pod.Name, placed{string(pod.UID), pod.Spec.NodeName, directory})
	}
	if s := pod.Status; s.Phase == corev1.PodRunning && len(s.ContainerStatuses) > 0 && s.ContainerStatuses[0].Ready == copies {
		return nil
	}
	now := metav1.NewTime(k.options.Clock.Now())
	state, status := container(pod), baseStatus(pod, corev1.PodRunning, copies)
	state.Ready, state.Started, state.State.Running = copies, &copies, &corev1.ContainerStateRunning{StartedAt: now}
	status.StartTime, status.ContainerStatuses = &now, []corev1.ContainerStatus{state}
	return k.writeStatus(ctx, pod, status)
}

// removeEngine ends a pod of an engine image, which takes the binary with it; other pods are left alone. Nobody hears of the end of a pod
// on a node that is cut off.
func (k *Kubelet) removeEngine(pod string) error {
	put, found := k.engines.Load(pod)
	if !found {
		return nil
	}
	if !k.hears(put.(placed).node) {
		return nil
	}
	k.engines.Delete(pod)
	return k.options.Machine.RemoveEngine(put.(placed).node, put.(placed).directory)
}

// readVersion runs a pod that asks the engine binary for its version and leaves the answer as its termination message.
func (k *Kubelet) readVersion(ctx context.Context, pod *corev1.Pod) error {
	command := strings.Join(pod.Spec.Containers[0].Command, " ")
	if !strings.Contains(command, binaryInImage+" version --client-only") || !strings.Contains(command, "> /dev/termination-log") {
		return k.writeStatus(ctx, pod, endedAtStart(pod, errors.New("exec failed: no such file")))
	}
	answer, err := k.options.Machine.EngineVersion(pod.Spec.Containers[0].Image)
	if err != nil {
		return k.writeStatus(ctx, pod, endedAtStart(pod, err))
	}
	now := metav1.NewTime(k.options.Clock.Now())
	c, status := container(pod), baseStatus(pod, corev1.PodSucceeded, false)
	c.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", Message: answer, StartedAt: now, FinishedAt: now}
	status.ContainerStatuses = []corev1.ContainerStatus{c}
	return k.writeStatus(ctx, pod, status)
}
