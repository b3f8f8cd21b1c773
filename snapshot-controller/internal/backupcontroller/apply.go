package backupcontroller

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/backup"
)

// owner is the field manager of what this binary writes.
const owner = "snapshot-controller"

// apply does the one write of a verdict, to the version that was evaluated. What is gone meanwhile is NotFound.
func apply(ctx context.Context, c client.Client, w *backup.World, v backup.Verdict) error {
	var err error
	switch v.Step {
	case backup.StepNone:
	case backup.StepRepair:
		err = repair(ctx, c, w)
	case backup.StepTakeTicket:
		err = writeTicket(ctx, c, w, v.Ticket)
	case backup.StepDropTicket:
		err = writeTicket(ctx, c, w, nil)
	case backup.StepSay:
		list := []v1beta2.Condition{v.Condition}
		if v.Stall != nil {
			list = append(list, *v.Stall)
		}
		err = status.Apply(ctx, c, w.Backup, owner, map[string]any{"conditions": status.ConditionsField(list)}, status.AtVersion())
	case backup.StepMarkDeleting:
		err = status.MergeStatus(ctx, c, w.Backup, map[string]any{"state": v1beta2.BackupDeleting}, status.AtVersion())
	case backup.StepDelete:
		err = status.Delete(ctx, c, w.Backup)
	case backup.StepDropFinalizer:
		err = status.DropFinalizer(ctx, c, w.Backup, v1beta2.Finalizer)
	default:
		err = fmt.Errorf("unknown step %q", v.Step)
	}
	return err
}

// repair puts label and finalizer right in one patch.
func repair(ctx context.Context, c client.Client, w *backup.World) error {
	b := w.Backup
	metadata := map[string]any{}
	if w.Snapshot != nil && b.Status.VolumeName == "" {
		metadata["labels"] = map[string]string{v1beta2.LabelBackupVolume: v1beta2.LabelValue(w.Snapshot.Spec.Volume)}
	}
	if !slices.Contains(b.Finalizers, v1beta2.Finalizer) {
		metadata["finalizers"] = append(slices.Clone(b.Finalizers), v1beta2.Finalizer)
	}
	return status.MergeMetadata(ctx, c, b, metadata)
}

// writeTicket writes our own ticket; nil removes it.
func writeTicket(ctx context.Context, c client.Client, w *backup.World, ticket *v1beta2.AttachmentTicket) error {
	return status.MergeTickets(ctx, c, w.Attachment, map[string]*v1beta2.AttachmentTicket{backup.TicketID(w.Backup.Name): ticket})
}
