package bundle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// apps are the values of the label app of Drover's controllers, appPrefixes begin those of Longhorn's pods.
var (
	apps = []string{"api-gateway", "attach-controller", "disk-controller", "im-monitor", "orphan-controller", "snapshot-controller",
		"upgrade-controller"}
	appPrefixes = []string{"longhorn-", "csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter"}
)

// IsSystemPod reports whether a pod is of Drover or Longhorn, by its labels or its owner. Other pods of the namespace are other people's.
func IsSystemPod(pod *corev1.Pod) bool {
	app, name := pod.Labels["app"], pod.Labels["app.kubernetes.io/name"]
	if slices.Contains(apps, app) || name == "longhorn" || name == "drover" || pod.Labels[v1beta2.LabelComponent] != "" {
		return true
	}
	for _, owner := range pod.OwnerReferences {
		if strings.HasPrefix(owner.APIVersion, v1beta2.GroupVersion.Group+"/") {
			return true
		}
	}
	return slices.ContainsFunc(appPrefixes, func(prefix string) bool { return strings.HasPrefix(app, prefix) })
}

// Log is one log of a pod.
type Log struct {
	Container string
	// Previous is that of the container's run before.
	Previous bool
}

// File returns the name of the file that it becomes.
func (l Log) File() string {
	if l.Previous {
		return l.Container + ".previous.log"
	}
	return l.Container + ".log"
}

// LogsOf returns the logs of a pod: of all its containers, and of the run before where one was restarted.
func LogsOf(pod *corev1.Pod) []Log {
	var out []Log
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		out = append(out, Log{Container: container.Name})
		if slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == container.Name && s.RestartCount > 0 }) {
			out = append(out, Log{Container: container.Name, Previous: true})
		}
	}
	return out
}
