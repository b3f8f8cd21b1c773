package snapshotexecutor

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// report writes conditions. Each is bound to the version that was evaluated.
func (h *Executor) report(ctx context.Context, l Poll, changes []enginesnapshot.Change) error {
	var errs []error
	for _, c := range changes {
		errs = append(errs, h.write(ctx, l, c))
	}
	return errors.Join(errs...)
}

func (h *Executor) write(ctx context.Context, l Poll, c enginesnapshot.Change) error {
	s, err := lookup.Shared(ctx, h.rt.Client, h.rt.Namespace, c.Name, &v1beta2.Snapshot{})
	if err != nil || s == nil {
		return err
	}
	now := h.rt.Clock.Now()
	c.Condition.LastProbeTime = answeredAt(s, c.Condition, now).UTC().Format(time.RFC3339Nano)
	own := conditions.Owned(s.Status.Conditions, v1beta2.SnapshotProvisioned, v1beta2.SnapshotRemovalFailed, v1beta2.SnapshotWithdrawn)
	before := own
	if was := conditions.Get(own, c.Condition.Type); was != nil && was.Reason != c.Condition.Reason {
		before = conditions.Remove(own, c.Condition.Type) // the time of the transition reports since when it is so for this reason
	}
	list := conditions.Set(before, c.Condition, now)
	if conditions.Equal(own, list) && !answersAgain(s, c.Condition) {
		return nil
	}
	err = status.Apply(ctx, h.rt.Client, s, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)}, status.AtVersion())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the conditions of snapshot %s: %w", s.Name, err)
	}
	written.WithLabelValues(c.Condition.Type, c.Condition.Reason).Inc()
	h.log.Info("snapshot", "snapshot", s.Name, "volume", s.Spec.Volume, "condition", c.Condition.Type, "status", c.Condition.Status,
		"reason", c.Condition.Reason, "message", c.Condition.Message)
	events.Emit(h.rt.Recorder, s, saidEvent(c.Condition))
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
	v, err := h.volume(ctx, l)
	if err != nil || v == nil {
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

// volume is the engine's Volume, read uncached; nil where it is gone, being deleted, another one, or moves.
func (h *Executor) volume(ctx context.Context, l Poll) (*v1beta2.Volume, error) {
	e := l.Engine
	v := &v1beta2.Volume{}
	err := h.rt.Uncached.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: e.Spec.VolumeName}, v)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading volume %s: %w", e.Spec.VolumeName, err)
	}
	if v.DeletionTimestamp != nil || string(v.UID) != volumeUID(e.OwnerReferences, v.Name) {
		return nil, nil
	}
	return v, nil
}
