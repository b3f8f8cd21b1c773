package upgradecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

func TestTheCheckOfAnImageTriesItsOwnArguments(t *testing.T) {
	m := &v1beta2.DataEngineUpgradeManager{}
	for image, want := range map[string]managerimage.Profile{
		"im:v1.12.0": managerimage.Direct, "im:v1.12.1": managerimage.Wrapper, "own@sha256:00": managerimage.WrapperWithoutSmallPool,
	} {
		m.Status.InstanceManagerImage = image
		c := checkPod(m, "node-1", "", map[string]managerimage.Profile{"own@sha256:00": managerimage.WrapperWithoutSmallPool}).Spec.Containers[0]
		require.Equal(t, managerimage.CheckCommand(), c.Command)
		require.Equal(t, want.CheckArguments(), c.Args, image)
	}
}

func TestAnImageFitsOnlyIfItsCheckEndedWell(t *testing.T) {
	ended := func(code int32, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{ImageID: "id", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message}}}}}}
	}
	require.Empty(t, reported(ended(0, "")).Missing)
	require.True(t, reported(ended(0, "")).Known)
	require.Contains(t, reported(ended(1, "the image lacks /usr/local/bin/start-spdk-tgt\n")).Missing,
		"the image lacks /usr/local/bin/start-spdk-tgt; if the image is your own, declare its profile")
	require.Contains(t, reported(ended(127, "")).Missing, "its check ended with exit code 127 (Error)")
	running := ended(0, "")
	running.Status.Phase = corev1.PodRunning
	running.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	require.False(t, reported(running).Known, "the check is not over")
}
