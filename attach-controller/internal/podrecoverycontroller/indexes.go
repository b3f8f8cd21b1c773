package podrecoverycontroller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/attach-controller/internal/podrecovery"
)

// The indexes; other parts of the binary have their own on the same kinds.
const (
	// byClaim finds Pods that use a claim, and PersistentVolumes of Longhorn's driver that are bound to it: <namespace>/<name>.
	byClaim = "podrecovery.claim"
	// byNode finds Pods with claims, and VolumeAttachments of Longhorn's driver, of a Kubernetes node.
	byNode = "podrecovery.node"
	// byHandle finds PersistentVolumes of a Longhorn volume.
	byHandle = "podrecovery.handle"
	// byPersistentVolume finds VolumeAttachments of Longhorn's driver.
	byPersistentVolume = "podrecovery.persistent-volume"
)

var indexes = []struct {
	of   client.Object
	name string
	keys client.IndexerFunc
}{
	{&corev1.Pod{}, byClaim, func(o client.Object) []string { return claimsOf(o.(*corev1.Pod)) }},
	{&corev1.Pod{}, byNode, func(o client.Object) []string {
		pod := o.(*corev1.Pod)
		if len(podrecovery.Claims(pod)) == 0 {
			return nil
		}
		return some(pod.Spec.NodeName)
	}},
	{&corev1.PersistentVolume{}, byClaim, func(o client.Object) []string { return some(claimOf(o.(*corev1.PersistentVolume))) }},
	{&corev1.PersistentVolume{}, byHandle, func(o client.Object) []string { return some(volumeOf(o.(*corev1.PersistentVolume))) }},
	{&storagev1.VolumeAttachment{}, byPersistentVolume,
		func(o client.Object) []string { return some(sourceOf(o.(*storagev1.VolumeAttachment))) }},
	{&storagev1.VolumeAttachment{}, byNode, func(o client.Object) []string {
		if sourceOf(o.(*storagev1.VolumeAttachment)) == "" {
			return nil
		}
		return some(o.(*storagev1.VolumeAttachment).Spec.NodeName)
	}},
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range indexes {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func some(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}

// claimsOf are the keys of the claims that a pod uses.
func claimsOf(pod *corev1.Pod) []string {
	var out []string
	for _, name := range podrecovery.Claims(pod) {
		out = append(out, pod.Namespace+"/"+name)
	}
	return out
}

// claimOf is the key of the claim that is bound to a PersistentVolume of Longhorn's driver; empty: it is another driver's, or not bound.
func claimOf(pv *corev1.PersistentVolume) string {
	if volumeOf(pv) == "" || pv.Spec.ClaimRef == nil || pv.Status.Phase != corev1.VolumeBound {
		return ""
	}
	return pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name
}

// volumeOf is the Longhorn volume of a PersistentVolume; empty: it is another driver's.
func volumeOf(pv *corev1.PersistentVolume) string {
	if pv.Spec.CSI == nil || pv.Spec.CSI.Driver != csi.Driver {
		return ""
	}
	return pv.Spec.CSI.VolumeHandle
}

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
