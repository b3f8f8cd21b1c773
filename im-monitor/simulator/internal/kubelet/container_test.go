package kubelet

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

func TestAProcessStartsAsItsContainerHasIt(t *testing.T) {
	address := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Image: "im:v1.12.0", Args: []string{"instance-manager", "--debug"},
			Env: []corev1.EnvVar{{Name: "TLS_DIR", Value: "/tls-files/"}, {Name: "POD_IP", ValueFrom: address}},
			VolumeMounts: []corev1.VolumeMount{{Name: "host", MountPath: "/host"}, {Name: "records", MountPath: "/metadata/", SubPath: "a"},
				{Name: "tls", MountPath: "/tls-files/"}}}},
		Volumes: []corev1.Volume{
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}},
			{Name: "records", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/longhorn/metadata/"}}},
			{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "files"}}}},
	}}
	require.Equal(t, machine.Container{Image: "im:v1.12.0", Arguments: []string{"instance-manager", "--debug"},
		Environment: map[string]string{"TLS_DIR": "/tls-files/"}, Addresses: []string{"POD_IP"},
		Mounts:  map[string]string{"/host": "/", "/metadata": "/var/lib/longhorn/metadata/a"},
		Secrets: map[string]string{"/tls-files": "files"}, Metadata: "/var/lib/longhorn/metadata/a"}, containerOf(pod))
	pod.Spec.Containers[0].VolumeMounts[1].ReadOnly = true
	require.Empty(t, containerOf(pod).Metadata, "records that nobody can write do not outlive the pod")
	require.Empty(t, containerOf(&corev1.Pod{}))
	ended := endedAtStart(pod, machine.ErrEnded)
	require.Equal(t, corev1.PodFailed, ended.Phase)
	require.Equal(t, int32(1), ended.ContainerStatuses[0].State.Terminated.ExitCode)
}
