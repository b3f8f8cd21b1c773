package csicontroller

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/kube"
)

// Cache returns what is cached of Kubernetes' own objects: the input of package csi, and for package podrecovery to which claim
// PersistentVolumes are bound, and whether nodes are ready, and since when. A cached object is never written back as a whole.
func Cache() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Node{}:             {Transform: kube.Keep(thinHost)},
		&corev1.PersistentVolume{}: {Transform: kube.Keep(thinPersistentVolume)},
		&storagev1.CSINode{}:       {Transform: kube.Keep(thinCSINode)},
	}
}

// thinMeta keeps the identity of an object, its version, and its finalizers.
func thinMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, CreationTimestamp: m.CreationTimestamp,
		DeletionTimestamp: m.DeletionTimestamp, Finalizers: m.Finalizers,
	}
}

func thinHost(node *corev1.Node) *corev1.Node {
	thin := &corev1.Node{ObjectMeta: thinMeta(node.ObjectMeta)}
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeOutOfService {
			thin.Spec.Taints = []corev1.Taint{{Key: t.Key, Effect: t.Effect}}
		}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			thin.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}}
		}
	}
	return thin
}

func thinPersistentVolume(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	thin := &corev1.PersistentVolume{ObjectMeta: thinMeta(pv.ObjectMeta)}
	thin.Spec.AccessModes = pv.Spec.AccessModes
	if source := pv.Spec.CSI; source != nil {
		thin.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: source.Driver, VolumeHandle: source.VolumeHandle}
	}
	thin.Status.Phase = pv.Status.Phase
	if claim := pv.Spec.ClaimRef; claim != nil {
		thin.Spec.ClaimRef = &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name}
	}
	return thin
}

func thinCSINode(node *storagev1.CSINode) *storagev1.CSINode {
	thin := &storagev1.CSINode{ObjectMeta: thinMeta(node.ObjectMeta)}
	if id := csi.FromCSINode(node); id != "" {
		thin.Spec.Drivers = []storagev1.CSINodeDriver{{Name: csi.Driver, NodeID: id}}
	}
	return thin
}
