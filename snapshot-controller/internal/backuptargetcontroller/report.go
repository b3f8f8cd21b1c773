package backuptargetcontroller

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/status"
)

// report writes the result of a reading that began at that time. A reading that failed as the one before writes nothing.
func (r *reconciler) report(ctx context.Context, t *v1beta2.BackupTarget, reason, message string, began time.Time) error {
	c := v1beta2.Condition{Type: v1beta2.BackupTargetListed, Status: v1beta2.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: t.Generation}
	if reason == v1beta2.ReasonListed {
		c.Status = v1beta2.ConditionTrue
	}
	before := conditions.Owned(t.Status.Conditions, v1beta2.BackupTargetListed)
	after := conditions.Set(before, c, r.rt.Clock.Now())
	if !isRead(reason) && isRepeated(conditions.Get(before, c.Type), c) {
		return nil
	}
	fields := map[string]any{"conditions": status.ConditionsField(after), "available": t.Status.Available,
		"lastSyncedAt": t.Status.LastSyncedAt}
	switch reason {
	case v1beta2.ReasonListed, v1beta2.ReasonListedInPart:
		fields["available"], fields["lastSyncedAt"] = true, began.UTC().Format(time.RFC3339)
	case v1beta2.ReasonRefused, v1beta2.ReasonTimedOut:
		fields["available"] = false
	}
	if fields["lastSyncedAt"] == "" {
		delete(fields, "lastSyncedAt")
	}
	if err := status.Apply(ctx, r.rt.Client, t, owner, fields); err != nil {
		return client.IgnoreNotFound(err)
	}
	if conditions.Reason(before, c.Type) != reason && !isRead(reason) {
		events.Emit(r.rt.Recorder, t, events.Event{Type: corev1.EventTypeWarning, Reason: "BackupTargetNotListed", Action: "ListBackups",
			Note: reason + ": " + message})
	}
	return nil
}

// isRepeated reports whether a failure is the same as before, but for the numbers that a target gives each of its refusals.
func isRepeated(before *v1beta2.Condition, c v1beta2.Condition) bool {
	return before != nil && before.Reason == c.Reason && before.ObservedGeneration == c.ObservedGeneration &&
		slices.Equal(withoutNumbers(before.Message), withoutNumbers(c.Message))
}

// withoutNumbers returns the words of a text that have no digit in them.
func withoutNumbers(text string) []string {
	return slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.ContainsAny(word, "0123456789") })
}

// clear removes the objects of a target whose URL a person emptied; what was in the target stays there.
func (r *reconciler) clear(ctx context.Context, t *v1beta2.BackupTarget) error {
	volumes, backups, err := r.known(ctx, t.Name)
	if err != nil || len(volumes)+len(backups) == 0 && len(conditions.Owned(t.Status.Conditions, v1beta2.BackupTargetListed)) == 0 {
		return err
	}
	live := &v1beta2.BackupTarget{}
	if err := r.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(t), live); err != nil || live.UID != t.UID || live.Spec.BackupTargetURL != "" {
		return client.IgnoreNotFound(err)
	}
	for _, b := range backups {
		if b.Status.State == v1beta2.BackupCompleted {
			if err := r.forget(ctx, b, &v1beta2.Backup{}); err != nil {
				return err
			}
		}
	}
	for _, v := range volumes {
		if err := r.forget(ctx, v, &v1beta2.BackupVolume{}); err != nil {
			return err
		}
	}
	if len(conditions.Owned(live.Status.Conditions, v1beta2.BackupTargetListed)) == 0 {
		return nil
	}
	return client.IgnoreNotFound(status.Apply(ctx, r.rt.Client, live, owner, map[string]any{"available": false}))
}
