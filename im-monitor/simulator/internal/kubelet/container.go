package kubelet

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// containerOf returns how the process of a pod starts: its image, command, arguments, environment and mounts.
func containerOf(pod *corev1.Pod) machine.Container {
	if len(pod.Spec.Containers) == 0 {
		return machine.Container{}
	}
	c := pod.Spec.Containers[0]
	out := machine.Container{Image: c.Image, Command: c.Command, Arguments: c.Args, Environment: map[string]string{},
		Mounts: map[string]string{}, Secrets: map[string]string{}}
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.FieldRef != nil && v.ValueFrom.FieldRef.FieldPath == "status.podIP" {
			out.Addresses = append(out.Addresses, v.Name)
		} else {
			out.Environment[v.Name] = v.Value
		}
	}
	for _, m := range c.VolumeMounts {
		for _, v := range pod.Spec.Volumes {
			at := path.Clean(m.MountPath)
			switch {
			case v.Name != m.Name:
			case v.HostPath != nil:
				out.Mounts[at] = path.Join(v.HostPath.Path, m.SubPath)
				if at == "/metadata" && !m.ReadOnly {
					out.Metadata = out.Mounts[at]
				}
			case v.Secret != nil:
				out.Secrets[at] = v.Secret.SecretName
			}
		}
	}
	return out
}
