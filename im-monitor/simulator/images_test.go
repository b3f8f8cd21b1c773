package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// tries makes a pod that tries an image with the arguments of a profile, as upgrade-controller does.
func (w *world) tries(name, image string, profile managerimage.Profile) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace, Labels: map[string]string{
			v1beta2.LabelComponent: "upgrade-image-check", v1beta2.LabelManagedBy: "upgrade-controller"}},
		Spec: corev1.PodSpec{NodeName: w.node, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "check", Image: image, Command: managerimage.CheckCommand(),
				Args: profile.CheckArguments()}}},
	}
	require.NoError(w.t, w.admin.Create(w.t.Context(), pod))
	return pod
}

func TestAPodThatTriesAnImageEndsOrWaitsForIt(t *testing.T) {
	w := newWorld(t, nil)
	there := w.tries("check-1", "registry/image:v1.12.1", managerimage.Wrapper)
	missing := w.tries("check-2", "registry/missing:v2", managerimage.Direct)
	unfit := w.tries("check-3", "registry/image:v1.12.0", managerimage.Wrapper)
	done := w.podWhen(there, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	require.NotEmpty(t, done.Status.ContainerStatuses[0].ImageID)
	require.Zero(t, done.Status.ContainerStatuses[0].State.Terminated.ExitCode)
	waits := w.podWhen(missing, func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Waiting != nil
	})
	require.Equal(t, corev1.PodPending, waits.Status.Phase)
	require.Equal(t, "ErrImagePull", waits.Status.ContainerStatuses[0].State.Waiting.Reason)
	fails := w.podWhen(unfit, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	require.Contains(t, fails.Status.ContainerStatuses[0].State.Terminated.Message, "the image lacks ", "this release has no start-spdk-tgt")
	for _, pod := range []*corev1.Pod{there, missing, unfit} {
		require.NoError(t, w.admin.Delete(t.Context(), pod))
		w.gone(pod)
	}
}
