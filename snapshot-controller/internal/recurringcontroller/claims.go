package recurringcontroller

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// Cached returns what is kept of claims and PersistentVolumes: of claims only those that are the source of their volumes' jobs, and
// of these what names jobs; of PersistentVolumes which volume and which claim they bind.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		aClaim(): {
			Namespaces: map[string]cache.Config{cache.AllNamespaces: {}},
			Label:      labels.SelectorFromSet(labels.Set{v1beta2.LabelRecurringSource: v1beta2.RecurringEnabled}),
			Transform:  kube.Keep(thinClaim),
		},
		&corev1.PersistentVolume{}: {Transform: kube.Keep(thinPersistentVolume)},
	}
}

// aClaim is an empty PersistentVolumeClaim, of which only the metadata is read.
func aClaim() *metav1.PartialObjectMetadata {
	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
	return obj
}

func claims() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList"))
	return list
}

func thinClaim(claim *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: claim.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
		Labels: recurring.LabelsOfClaim(claim.Labels),
	}}
}

func thinPersistentVolume(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	thin := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: pv.Name, UID: pv.UID, ResourceVersion: pv.ResourceVersion}}
	if b := bindingOf(pv); b.volume != "" {
		thin.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v1beta2.CSIDriver, VolumeHandle: b.volume}
		thin.Spec.ClaimRef = &corev1.ObjectReference{Namespace: b.claim.Namespace, Name: b.claim.Name, UID: b.uid}
	}
	return thin
}

// binding is which claim a PersistentVolume binds to which Longhorn volume.
type binding struct {
	volume string
	claim  types.NamespacedName
	uid    types.UID
}

// bindingOf is empty where a PersistentVolume is not bound, or is another driver's.
func bindingOf(pv *corev1.PersistentVolume) binding {
	source, ref := pv.Spec.CSI, pv.Spec.ClaimRef
	if source == nil || source.Driver != v1beta2.CSIDriver || ref == nil || ref.UID == "" {
		return binding{}
	}
	return binding{volume: source.VolumeHandle, claim: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, uid: ref.UID}
}

// sources are the labels of all claims that are sources. Most clusters have none, and then nothing is checked.
func (o observer) sources(ctx context.Context) (recurring.Sources, error) {
	list := claims()
	if err := lookup.ListShared(ctx, o.reader, "", list); err != nil {
		return nil, err
	}
	var out recurring.Sources
	for i := range list.Items {
		bound, err := o.bindings(ctx, byClaim, string(list.Items[i].UID))
		if err != nil {
			return nil, err
		}
		for _, b := range bound {
			out = with(out, b.volume, list.Items[i].Labels)
		}
	}
	return out, nil
}

// sourcesOf are those of one volume.
func (o observer) sourcesOf(ctx context.Context, volume string) (recurring.Sources, error) {
	bound, err := o.bindings(ctx, byHandle, volume)
	if err != nil {
		return nil, err
	}
	var out recurring.Sources
	for _, b := range bound {
		claim, err := lookup.Shared(ctx, o.reader, b.claim.Namespace, b.claim.Name, aClaim())
		if err != nil {
			return nil, err
		}
		if claim != nil && claim.UID == b.uid {
			out = with(out, volume, claim.Labels)
		}
	}
	return out, nil
}

// with adds what a claim names; a volume that several claims have has what any of them names.
func with(s recurring.Sources, volume string, names map[string]string) recurring.Sources {
	if s == nil {
		s = recurring.Sources{}
	}
	if s[volume] == nil {
		s[volume] = names
		return s
	}
	both := maps.Clone(s[volume])
	maps.Copy(both, names)
	s[volume] = both
	return s
}

// bindings are those of the PersistentVolumes that an index finds.
func (o observer) bindings(ctx context.Context, index, key string) ([]binding, error) {
	var list corev1.PersistentVolumeList
	if err := lookup.ListShared(ctx, o.reader, "", &list, client.MatchingFields{index: key}); err != nil {
		return nil, err
	}
	out := make([]binding, len(list.Items))
	for i := range list.Items {
		out[i] = bindingOf(&list.Items[i])
	}
	return out, nil
}
