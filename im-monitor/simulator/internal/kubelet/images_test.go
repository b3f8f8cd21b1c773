package kubelet

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestAContainerEndsAtAnOptionThatItsImageLacks(t *testing.T) {
	pod := func(image string, args ...string) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image, Args: args}}}}
	}
	v1 := []string{"instance-manager", "--debug", "daemon", "--listen", ":8500"}
	v2 := []string{"start-spdk-tgt", "--spdk-cpumask", "0x3", "--spdk-core-number", "0", "--spdk-memory-size", "2048", "--enable-spdk",
		"--debug", "daemon", "--spdk-enabled", "--listen", "0.0.0.0:8500"}
	require.NoError(t, starts(pod("im:v1.12.0", v1...)))
	require.NoError(t, starts(pod("registry:5000/im:v1.12.1", v2...)))
	require.NoError(t, starts(pod("im:v1.12.0")))
	require.ErrorContains(t, starts(pod("im:v1.12.0", v2...)), "no such file")
	require.ErrorContains(t, starts(pod("im:v1.12.1", append(v2, "--spdk-log", "/log/spdk_tgt.log")...)), "unknown log flag")
	ended := endedAtStart(pod("im:v1.12.0", v2...), starts(pod("im:v1.12.0", v2...)))
	require.Equal(t, corev1.PodFailed, ended.Phase)
	require.Equal(t, int32(1), ended.ContainerStatuses[0].State.Terminated.ExitCode)
}
