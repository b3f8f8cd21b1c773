package snapshotcontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Owner is the field manager of everything that this binary writes.
const Owner = "snapshot-controller"

// apply does the one write of a verdict, to the version that was evaluated. What is gone meanwhile is NotFound.
func apply(ctx context.Context, c client.Client, w *snapshot.World, v snapshot.Verdict) error {
	var err error
	switch v.Step {
	case snapshot.StepNone:
	case snapshot.StepRepair:
		err = repair(ctx, c, w)
	case snapshot.StepTakeTicket:
		err = writeTicket(ctx, c, w, v.Ticket)
	case snapshot.StepDropTicket:
		err = writeTicket(ctx, c, w, nil)
	case snapshot.StepStatus:
		err = status.Apply(ctx, c, w.Snapshot, Owner, statusFields(v.Status), status.AtVersion())
	case snapshot.StepDelete:
		err = status.Delete(ctx, c, w.Snapshot)
	case snapshot.StepDropFinalizer:
		err = status.DropFinalizer(ctx, c, w.Snapshot, v1beta2.Finalizer)
	default:
		err = fmt.Errorf("unknown step %q", v.Step)
	}
	return err
}

// repair puts label, finalizer and owner reference right in one patch.
func repair(ctx context.Context, c client.Client, w *snapshot.World) error {
	s := w.Snapshot
	lacking, _ := snapshot.Complete(s, w.Volume)
	metadata := map[string]any{}
	if lacking.Labels != nil {
		metadata["labels"] = lacking.Labels
	}
	if lacking.Finalizers != nil {
		metadata["finalizers"] = lacking.Finalizers
	}
	if lacking.OwnerReferences != nil {
		metadata["ownerReferences"] = lacking.OwnerReferences
	}
	return status.MergeMetadata(ctx, c, s, metadata)
}

// writeTicket writes our own ticket; nil removes it.
func writeTicket(ctx context.Context, c client.Client, w *snapshot.World, ticket *v1beta2.AttachmentTicket) error {
	return status.MergeTickets(ctx, c, w.Attachment, map[string]*v1beta2.AttachmentTicket{snapshot.TicketID(w.Snapshot.Name): ticket})
}

// statusFields are all fields of the status that are this controller's; what is left out is empty.
func statusFields(s v1beta2.SnapshotStatus) map[string]any {
	fields := map[string]any{
		"readyToUse": s.ReadyToUse, "markRemoved": s.MarkRemoved, "userCreated": s.UserCreated,
		"size": s.Size, "restoreSize": s.RestoreSize, "conditions": status.ConditionsField(s.Conditions),
	}
	for name, text := range map[string]string{
		"parent": s.Parent, "creationTime": s.CreationTime, "error": s.Error, "requestedTime": s.RequestedTime,
	} {
		if text != "" {
			fields[name] = text
		}
	}
	if len(s.Children) > 0 {
		fields["children"] = generic(s.Children)
	}
	if len(s.Labels) > 0 {
		fields["labels"] = generic(s.Labels)
	}
	if s.ObservedGeneration != 0 {
		fields["observedGeneration"] = s.ObservedGeneration
	}
	return fields
}

func generic[V any](from map[string]V) map[string]any {
	out := make(map[string]any, len(from))
	for k, v := range from {
		out[k] = v
	}
	return out
}
