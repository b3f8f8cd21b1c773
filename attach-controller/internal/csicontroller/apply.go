package csicontroller

import (
	"context"
	"fmt"
	"slices"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// apply does the steps in their order. Each is bound to the evaluated resourceVersion, except tickets, whose writers share the object and
// never a key.
func (r *reconciler) apply(ctx context.Context, s *seen, verdict csi.Verdict) error {
	for _, step := range verdict.Steps {
		if err := r.applyStep(ctx, s, step); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) applyStep(ctx context.Context, s *seen, step csi.Step) error {
	switch step.Kind {
	case csi.StepMark:
		return r.hold(ctx, s.attachment, map[string]string{csi.NodeIDAnnotation: step.NodeID})
	case csi.StepHold:
		return r.hold(ctx, s.persistentVolume, nil)
	case csi.StepPutTicket, csi.StepRemoveTicket:
		return r.setTicket(ctx, s, step)
	case csi.StepStatus:
		fields := statusFields(csi.FromAttachment(s.attachment), *step.Status, r.rt.Clock.Now())
		if err := status.MergeStatus(ctx, r.rt.Client, s.attachment, fields, status.AtVersion()); err != nil {
			return err
		}
		r.written.Record(s.attachment)
		return nil
	case csi.StepRelease:
		if err := client.IgnoreNotFound(status.DropFinalizer(ctx, r.rt.Client, s.attachment, csi.Finalizer)); err != nil {
			return err
		}
		r.written.Record(s.attachment)
		return nil
	}
	return fmt.Errorf("unknown step %q", step.Kind)
}

// hold adds the finalizer, and annotations, at the evaluated resourceVersion.
func (r *reconciler) hold(ctx context.Context, obj client.Object, annotations map[string]string) error {
	metadata := map[string]any{}
	if finalizers := obj.GetFinalizers(); !slices.Contains(finalizers, csi.Finalizer) {
		metadata["finalizers"] = append(slices.Clone(finalizers), csi.Finalizer)
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if err := status.MergeMetadata(ctx, r.rt.Client, obj, metadata); err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	r.written.Record(obj)
	return nil
}

// setTicket writes or removes this attachment's key. If the object is gone there is nothing to remove, and its owner creates it again
// before anything can be written.
func (r *reconciler) setTicket(ctx context.Context, s *seen, step csi.Step) error {
	target := s.tickets
	if target == nil || target.Name != step.Volume {
		target = &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Namespace: r.rt.Namespace, Name: step.Volume}}
	}
	var ticket any // null removes the key
	if step.Ticket != nil {
		ticket = step.Ticket
	}
	fields := map[string]any{"attachmentTickets": map[string]any{s.attachment.Name: ticket}}
	if err := status.MergeSpec(ctx, r.rt.Client, target, fields); err != nil {
		return client.IgnoreNotFound(err)
	}
	if target == s.tickets {
		r.written.Record(target)
	}
	return nil
}

// statusFields is the merge patch from one status to another. An error with the same text keeps its time.
func statusFields(now csi.Attachment, wanted csi.Status, at time.Time) map[string]any {
	fields := map[string]any{"attached": wanted.Attached}
	if wanted.Metadata == nil {
		fields["attachmentMetadata"] = nil
	} else {
		fields["attachmentMetadata"] = wanted.Metadata
	}
	volumeError(fields, "attachError", now.AttachError, wanted.AttachError, at)
	volumeError(fields, "detachError", now.DetachError, wanted.DetachError, at)
	return fields
}

func volumeError(fields map[string]any, name, now, wanted string, at time.Time) {
	switch {
	case wanted == now:
	case wanted == "":
		fields[name] = nil
	default:
		fields[name] = storagev1.VolumeError{Message: wanted, Time: metav1.NewTime(at)}
	}
}
