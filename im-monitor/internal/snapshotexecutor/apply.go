package snapshotexecutor

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// report writes conditions, each to the version that was evaluated.
func (h *Executor) report(ctx context.Context, evaluated map[string]*v1beta2.Snapshot, changes []enginesnapshot.Change) error {
	var errs []error
	for _, c := range changes {
		errs = append(errs, h.write(ctx, evaluated[c.Name], c.Condition))
	}
	return errors.Join(errs...)
}

// answered writes the answer to a call about a Snapshot, unless the Snapshot is gone or another one since the call was checked.
func (h *Executor) answered(ctx context.Context, called *v1beta2.Snapshot, c v1beta2.Condition) {
	s, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, called.Name, &v1beta2.Snapshot{})
	if err == nil && s != nil && s.UID == called.UID {
		err = h.write(ctx, s, c)
	}
	if err != nil {
		h.log.Info("condition not written", "snapshot", called.Name, "error", err.Error())
	}
}

// write writes a condition to this version of a Snapshot.
func (h *Executor) write(ctx context.Context, s *v1beta2.Snapshot, c v1beta2.Condition) error {
	now := h.rt.Clock.Now()
	c.LastProbeTime = answeredAt(s, c, now).UTC().Format(time.RFC3339Nano)
	own := conditions.Owned(s.Status.Conditions, v1beta2.SnapshotProvisioned, v1beta2.SnapshotRemovalFailed, v1beta2.SnapshotWithdrawn)
	before := own
	if was := conditions.Get(own, c.Type); was != nil && was.Reason != c.Reason {
		before = conditions.Remove(own, c.Type) // the time of the transition reports since when it is so for this reason
	}
	list := conditions.Set(before, c, now)
	if conditions.Equal(own, list) && !answersAgain(s, c) {
		return nil
	}
	err := status.Apply(ctx, h.rt.Client, s, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)}, status.AtVersion())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the conditions of snapshot %s: %w", s.Name, err)
	}
	written.WithLabelValues(c.Type, c.Reason).Inc()
	h.log.Info("snapshot", "snapshot", s.Name, "volume", s.Spec.Volume, "condition", c.Type, "status", c.Status,
		"reason", c.Reason, "message", c.Message)
	events.Emit(h.rt.Recorder, s, saidEvent(c))
	return nil
}

// answeredAt is now, but never before the request that is answered: the request has the time of another clock.
func answeredAt(s *v1beta2.Snapshot, c v1beta2.Condition, now time.Time) time.Time {
	asked := snapshotOf(s)
	at := asked.Requested
	if c.Type == v1beta2.SnapshotRemovalFailed {
		at = asked.Since
	}
	if now.Before(at) {
		return at
	}
	return now
}

// answersAgain reports whether a failure answers a request, or an approval, that came after the last one: only its time is new.
func answersAgain(s *v1beta2.Snapshot, c v1beta2.Condition) bool {
	now := snapshotOf(s)
	if c.Type == v1beta2.SnapshotRemovalFailed {
		return !enginesnapshot.FailedSince(now)
	}
	return c.Type == v1beta2.SnapshotProvisioned && enginesnapshot.AskedAnew(now.Requested, now.Provisioned)
}

// mirror creates the object of a snapshot that has none, unless the volume is being deleted or is another one.
func (h *Executor) mirror(ctx context.Context, l Poll, name string) error {
	there, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, name, &v1beta2.Snapshot{})
	if err != nil || there != nil {
		return err
	}
	v, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, l.Engine.Spec.VolumeName, &v1beta2.Volume{})
	if err != nil || !engine.IsOf(l.Engine, v) || v.DeletionTimestamp != nil {
		return err
	}
	s := &v1beta2.Snapshot{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.rt.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{v1beta2.LabelVolume: v1beta2.LabelValue(v.Name)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: v.Name, UID: v.UID,
			}},
		},
		Spec: v1beta2.SnapshotSpec{Volume: v.Name},
	}
	if err := h.rt.Client.Create(ctx, s); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return fmt.Errorf("creating snapshot %s: %w", name, err)
	}
	mirrored.Inc()
	h.log.Info("created an object for a snapshot of the engine", "snapshot", name, "volume", v.Name, "engine", l.Engine.Name)
	events.Emit(h.rt.Recorder, l.Engine, mirroredEvent(name))
	return nil
}
