package podrecoverycontroller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/kube"
)

// The indexes; other parts of the binary have their own on the same kinds.
const (
	// byNode finds Pods with claims, and VolumeAttachments of Longhorn's driver, of a Kubernetes node.
	byNode = "podrecovery.node"
	// byPersistentVolume finds VolumeAttachments of Longhorn's driver.
	byPersistentVolume = "podrecovery.persistent-volume"
)

var indexes = append(kube.ByClaim(),
	kube.IndexBy(&corev1.Pod{}, byNode, func(pod *corev1.Pod) string {
		if !kube.UsesClaims(pod) {
			return ""
		}
		return pod.Spec.NodeName
	}),
	kube.ByHandle(),
	kube.IndexBy(&storagev1.VolumeAttachment{}, byPersistentVolume, sourceOf),
	kube.IndexBy(&storagev1.VolumeAttachment{}, byNode, func(va *storagev1.VolumeAttachment) string {
		if sourceOf(va) == "" {
			return ""
		}
		return va.Spec.NodeName
	}),
)

// sourceOf is the PersistentVolume of a VolumeAttachment of Longhorn's driver; empty: it is another driver's, or has none.
func sourceOf(va *storagev1.VolumeAttachment) string {
	if va.Spec.Attacher != csi.Driver || va.Spec.Source.PersistentVolumeName == nil {
		return ""
	}
	return *va.Spec.Source.PersistentVolumeName
}

// shareOf is the volume whose share manager a pod is; empty: it is no such pod.
func shareOf(pod client.Object) string {
	volume, found := strings.CutPrefix(pod.GetName(), sharePrefix)
	if !found {
		return ""
	}
	return volume
}

// The name of a share manager's pod, in Longhorn's namespace, is sharePrefix and the volume's name.
const sharePrefix = "share-manager-"
