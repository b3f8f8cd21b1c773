package attachcontroller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/attach-controller/internal/ticketcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// owner is the reference of a VolumeAttachment to its Volume.
func owner(v *v1beta2.Volume) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: v1beta2.GroupVersion.String(), Kind: volumeKind, Name: v.Name, UID: v.UID}
}

const volumeKind = "Volume"

// foreign reports whether a VolumeAttachment is that of a previous volume of the same name: its tickets are not for this one.
func foreign(a *v1beta2.VolumeAttachment, v *v1beta2.Volume) bool {
	return slices.ContainsFunc(a.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Kind == volumeKind && r.UID != v.UID })
}

// create creates the VolumeAttachment of a volume that has none. If one exists by now, its event follows.
func (r *reconciler) create(ctx context.Context, v *v1beta2.Volume) error {
	tickets, err := r.ticketsTakenOver(ctx, v, nil)
	if err != nil {
		return err
	}
	a := &v1beta2.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v.Namespace, Name: v.Name, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{v1beta2.LabelVolume: v1beta2.LabelValue(v.Name)}, OwnerReferences: []metav1.OwnerReference{owner(v)},
		},
		Spec: v1beta2.VolumeAttachmentSpec{Volume: v.Name, AttachmentTickets: tickets},
	}
	obj, err := withTickets(a)
	if err != nil {
		return err
	}
	if err := r.client.Create(ctx, obj); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return fmt.Errorf("creating VolumeAttachment %s: %w", v.Name, err)
	}
	if len(tickets) > 0 {
		events.Emit(r.recorder, obj, ticketcontroller.TakenOver(v.Spec.NodeID, tickets))
	}
	return nil
}

// ticketsTakenOver are the tickets of an attached volume that has none, for where it is now: one that was just released gets none
// for where it was.
func (r *reconciler) ticketsTakenOver(ctx context.Context, v *v1beta2.Volume, a *v1beta2.VolumeAttachment) (
	map[string]v1beta2.AttachmentTicket, error) {
	if !ticket.NeedsTakeOver(v, a) {
		return nil, nil
	}
	now := &v1beta2.Volume{}
	if err := lookup.Confirm(ctx, r.writer.uncached, v, now); err != nil {
		return nil, err
	}
	return ticketcontroller.TakeOver(ctx, r.client, now, a)
}

// withTickets is the object with its tickets written out even if there are none: an empty map, as other clients expect it.
func withTickets(a *v1beta2.VolumeAttachment) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		return nil, fmt.Errorf("rendering VolumeAttachment %s: %w", a.Name, err)
	}
	obj := &unstructured.Unstructured{Object: fields}
	obj.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("VolumeAttachment"))
	unstructured.RemoveNestedField(obj.Object, "status")
	if len(a.Spec.AttachmentTickets) == 0 {
		_ = unstructured.SetNestedMap(obj.Object, map[string]any{}, "spec", "attachmentTickets")
	}
	return obj, nil
}

// takeOver writes the tickets into an empty VolumeAttachment of an attached volume, and reports whether it did.
func (r *reconciler) takeOver(ctx context.Context, of objects) (bool, error) {
	tickets, err := r.ticketsTakenOver(ctx, of.volume, of.attachment)
	if err != nil || len(tickets) == 0 {
		return false, err
	}
	if err := status.MergeSpec(ctx, r.client, of.attachment, map[string]any{"attachmentTickets": tickets}, status.AtVersion()); err != nil {
		return true, err
	}
	events.Emit(r.recorder, of.attachment, ticketcontroller.TakenOver(of.volume.Spec.NodeID, tickets))
	return true, nil
}

// missing is the label, finalizer and owner that a VolumeAttachment lacks; owners are the wanted ones.
func missing(a *v1beta2.VolumeAttachment, owners []metav1.OwnerReference) map[string]any {
	lacks := map[string]any{}
	if !slices.Contains(a.Finalizers, v1beta2.Finalizer) {
		lacks["finalizers"] = append(slices.Clone(a.Finalizers), v1beta2.Finalizer)
	}
	if a.Labels[v1beta2.LabelVolume] == "" {
		lacks["labels"] = map[string]any{v1beta2.LabelVolume: v1beta2.LabelValue(a.Name)}
	}
	if !slices.ContainsFunc(a.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Kind == volumeKind }) {
		lacks["ownerReferences"] = append(slices.Clone(a.OwnerReferences), owners...)
	}
	return lacks
}

// mark completes a VolumeAttachment that a user created, and reports whether it did.
func (r *reconciler) mark(ctx context.Context, of objects) (bool, error) {
	lacks := missing(of.attachment, []metav1.OwnerReference{owner(of.volume)})
	if len(lacks) == 0 {
		return false, nil
	}
	return true, status.MergeMetadata(ctx, r.client, of.attachment, lacks)
}
