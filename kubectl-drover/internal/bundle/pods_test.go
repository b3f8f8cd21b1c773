package bundle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodsOfOthersAreNotOfTheSystem(t *testing.T) {
	labelled := func(key, value string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: value}}}
	}
	owned := func(version string) *corev1.Pod {
		owners := []metav1.OwnerReference{{APIVersion: version, Kind: "ShareManager"}}
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: owners}}
	}
	for _, pod := range []*corev1.Pod{labelled("app", "im-monitor"), labelled("app", "longhorn-manager"), labelled("app", "csi-attacher"),
		labelled("longhorn.io/component", "instance-manager"), labelled("app.kubernetes.io/name", "longhorn"), owned("longhorn.io/v1beta2")} {
		require.True(t, IsSystemPod(pod), "%v", pod.ObjectMeta)
	}
	for _, pod := range []*corev1.Pod{labelled("app", "database"), labelled("app.kubernetes.io/name", "database"), owned("apps/v1"), {}} {
		require.False(t, IsSystemPod(pod), "%v", pod.ObjectMeta)
	}
}

// Why a container was restarted stands in the log of its run before.
func TestALogBeforeARestartIsRead(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "init"}},
		Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", RestartCount: 2}}}}
	var files []string
	for _, log := range LogsOf(pod) {
		files = append(files, log.File())
	}
	require.Equal(t, []string{"init.log", "main.log", "main.previous.log"}, files)
}
