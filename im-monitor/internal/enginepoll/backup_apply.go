package enginepoll

import (
	"context"
	"errors"
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

// applyBackups writes what a poll means for the volume's Backups, and requests the one that is due, unless the poll has changed snapshots.
// It returns how long until the next poll is due because of them; zero is whenever.
func (p *poll) applyBackups(ctx context.Context, v backup.Verdict) (time.Duration, error) {
	p.memory.asked(p.engine.Name, p.answers)
	var err error
	for _, c := range v.Changes {
		err = errors.Join(err, p.writeBackup(ctx, p.backups[c.Name], c))
	}
	switch {
	case status.IsConflict(err):
		return conflictPause, nil
	case err != nil:
		return 0, err
	case v.Begin != "" && !p.rt.Observe && !p.snapshotsCalled:
		return p.beginBackup(ctx, backupOf(p.backups[v.Begin]))
	}
	return p.until(v.RequeueAt), nil
}

// writeBackup writes the result of a Backup to this version of it.
func (p *poll) writeBackup(ctx context.Context, b *v1beta2.Backup, c backup.Change) error {
	fields := map[string]any{"state": text(c.State), "progress": c.Progress, "replicaAddress": text(c.Replica), "error": text(c.Error)}
	if c.State != b.Status.State || c.Progress != b.Status.Progress {
		fields["progressedAt"] = p.rt.Clock.Now().UTC().Format(time.RFC3339)
	}
	if c.State == v1beta2.BackupCompleted {
		fields["url"], fields["backupCreatedAt"], fields["size"] = c.URL, p.rt.Clock.Now().UTC().Format(time.RFC3339), text(c.Size)
	}
	if err := status.MergeStatus(ctx, p.rt.Client, b, fields, status.AtVersion()); err != nil {
		return client.IgnoreNotFound(err)
	}
	if over := backupEndedEvent(c); len(over) > 0 {
		backupEnds.WithLabelValues(c.State).Inc()
		events.Emit(p.rt.Recorder, b, over...)
	}
	p.backupLog().Info("backup", "backup", b.Name, "engine", p.engine.Name, "state", c.State, "progress", c.Progress, "error", c.Error)
	if c.State == v1beta2.BackupCompleted {
		return p.foundTarget(ctx, b.Status.BackupTargetName, v1beta2.ReasonReached, "A backup was stored in it.")
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

// foundTarget records on a BackupTarget whether an engine could copy to it. A success is recorded once.
func (p *poll) foundTarget(ctx context.Context, target, reason, message string) error {
	t, err := lookup.Shared(ctx, p.rt.Uncached, p.rt.Namespace, target, &v1beta2.BackupTarget{})
	if err != nil || t == nil {
		return err
	}
	now := p.rt.Clock.Now()
	c := v1beta2.Condition{Type: v1beta2.BackupTargetAvailable, Status: v1beta2.ConditionFalse, Reason: reason, Message: message,
		LastProbeTime: now.UTC().Format(time.RFC3339Nano), ObservedGeneration: t.Generation}
	if reason == v1beta2.ReasonReached {
		c.Status = v1beta2.ConditionTrue
	}
	if foundBefore(conditions.Get(t.Status.Conditions, c.Type), c, now) {
		return nil
	}
	list := conditions.Set(conditions.Owned(t.Status.Conditions, v1beta2.BackupTargetAvailable), c, now)
	err = status.Apply(ctx, p.rt.Client, t, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the condition of backup target %s: %w", target, err)
	}
	return nil
}

// foundBefore reports whether the condition is recorded already: a success of this spec, or the same refusal of it a moment ago.
func foundBefore(before *v1beta2.Condition, c v1beta2.Condition, now time.Time) bool {
	if before == nil || before.ObservedGeneration != c.ObservedGeneration {
		return false
	}
	if c.Status == v1beta2.ConditionTrue {
		return before.Status == c.Status
	}
	at, err := time.Parse(time.RFC3339, before.LastProbeTime)
	return err == nil && before.Reason == c.Reason && before.Message == c.Message && now.Sub(at) < repeatAfter
}
