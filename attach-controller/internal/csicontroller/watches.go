package csicontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// ours passes the VolumeAttachments of this driver.
func ours() predicate.Predicate {
	return predicate.NewPredicateFuncs(isOurs)
}

// held passes PersistentVolumes that are being deleted and have our finalizer.
func held() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool {
		pv := csi.FromPersistentVolume(obj.(*corev1.PersistentVolume))
		return pv.Deleting && pv.HasFinalizer
	})
}

// watches maps the events of other objects to their VolumeAttachments.
type watches struct{ kube.Mapper }

func (w watches) ofPersistentVolume(ctx context.Context, obj client.Object) []string {
	return w.attachments(ctx, byPersistentVolume, obj.GetName())
}

func (w watches) ofNode(ctx context.Context, obj client.Object) []string {
	return w.attachments(ctx, byNode, obj.GetName())
}

func (w watches) ofVolume(ctx context.Context, obj client.Object) []string {
	found := w.attachments(ctx, byVolume, obj.GetName())
	for _, pv := range w.Names(ctx, &corev1.PersistentVolumeList{}, client.MatchingFields{kube.FieldHandle: obj.GetName()}) {
		found = append(found, w.attachments(ctx, byPersistentVolume, pv)...)
	}
	return found
}

// ofTickets finds those of the volume, and those that have a ticket there, which may be another volume's.
func (w watches) ofTickets(ctx context.Context, obj client.Object) []string {
	return append(w.ofVolume(ctx, obj), ticketsOfKubernetes(obj.(*v1beta2.VolumeAttachment))...)
}

func (w watches) attachments(ctx context.Context, index, key string) []string {
	ours := func(obj client.Object) string {
		if isOurs(obj) {
			return obj.GetName()
		}
		return ""
	}
	return w.NamesBy(ctx, ours, &storagev1.VolumeAttachmentList{}, client.MatchingFields{index: key})
}

func persistentVolumeOf(_ context.Context, obj client.Object) []string {
	return []string{csi.FromAttachment(obj.(*storagev1.VolumeAttachment)).PersistentVolume}
}
