package backupexecutor

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// write writes the result of a Backup to this version of it.
func (h *Executor) write(ctx context.Context, l Poll, b *v1beta2.Backup, c backup.Change) error {
	fields := map[string]any{"state": c.State, "progress": c.Progress, "replicaAddress": text(c.Replica), "error": text(c.Error)}
	if c.State == v1beta2.BackupCompleted {
		fields["url"], fields["backupCreatedAt"], fields["size"] = c.URL, h.rt.Clock.Now().UTC().Format(time.RFC3339), text(c.Size)
	}
	if err := status.MergeStatus(ctx, h.rt.Client, b, fields, status.AtVersion()); err != nil {
		return client.IgnoreNotFound(err)
	}
	if over := endedEvent(c); len(over) > 0 {
		ends.WithLabelValues(c.State).Inc()
		events.Emit(h.rt.Recorder, b, over...)
	}
	h.log.Info("backup", "backup", b.Name, "engine", l.Engine.Name, "state", c.State, "progress", c.Progress, "error", c.Error)
	if c.State == v1beta2.BackupCompleted {
		return h.found(ctx, b.Status.BackupTargetName, v1beta2.ReasonReached, "A backup was stored in it.")
	}
	return nil
}

// text is a value of a merge patch that is empty by being absent.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// found records on a BackupTarget whether an engine could copy to it. A success is recorded once.
func (h *Executor) found(ctx context.Context, target, reason, message string) error {
	t, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, target, &v1beta2.BackupTarget{})
	if err != nil || t == nil {
		return err
	}
	now := h.rt.Clock.Now()
	c := v1beta2.Condition{Type: v1beta2.BackupTargetAvailable, Status: v1beta2.ConditionFalse, Reason: reason, Message: message,
		LastProbeTime: now.UTC().Format(time.RFC3339Nano), ObservedGeneration: t.Generation}
	before := conditions.Get(t.Status.Conditions, v1beta2.BackupTargetAvailable)
	if same := before != nil && before.Reason == reason && before.Message == message &&
		before.ObservedGeneration == c.ObservedGeneration; same && reason == v1beta2.ReasonRefused {
		if at, err := time.Parse(time.RFC3339, before.LastProbeTime); err == nil && now.Sub(at) < repeatAfter {
			return nil
		}
	}
	if reason == v1beta2.ReasonReached {
		if c.Status = v1beta2.ConditionTrue; before != nil && before.Status == c.Status &&
			before.ObservedGeneration == c.ObservedGeneration {
			return nil
		}
	}
	list := conditions.Set(conditions.Owned(t.Status.Conditions, v1beta2.BackupTargetAvailable), c, now)
	err = status.Apply(ctx, h.rt.Client, t, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the condition of backup target %s: %w", target, err)
	}
	return nil
}
