package upgradecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/testkit"
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

// An upgrade that begins again after something was mended asks new pods: the pods of before may still be ending.
func TestOnlyTheChecksOfThisAttemptCount(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	m := &v1beta2.DataEngineUpgradeManager{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "upgrade", UID: "uid-2"}}
	m.Status.State, m.Status.InstanceManagerImage = v1beta2.UpgradeStateInitializing, "im:v1.12.1"
	before := m.DeepCopy()
	before.UID = "uid-1"
	for node, by := range map[string]*v1beta2.DataEngineUpgradeManager{"node-1": m, "node-2": m, "node-3": before} {
		pod := checkPod(by, node, "", nil)
		pod.Finalizers = []string{"example.com/ending"}
		require.NoError(t, admin.Create(t.Context(), pod))
		pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Message: "it could not be pulled"}
		require.NoError(t, admin.Status().Update(t.Context(), pod))
		if node == "node-2" {
			require.NoError(t, admin.Delete(t.Context(), pod))
		}
	}
	images, err := observer{namespace: namespace}.images(t.Context(), admin, m)
	require.NoError(t, err)
	require.NotEmpty(t, images["node-1"].Missing)
	require.NotContains(t, images, "node-2", "this pod is being deleted")
	require.NotContains(t, images, "node-3", "this pod checked for an upgrade of the same name that is gone")
}
