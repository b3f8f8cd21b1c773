package bundle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// apps are the values of the label app of Drover's controllers, appPrefixes begin those of Longhorn's pods.
var (
	apps        = []string{"attach-controller", "im-monitor", "orphan-controller", "snapshot-controller", "upgrade-controller"}
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
