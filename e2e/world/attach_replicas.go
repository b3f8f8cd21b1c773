package world

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// WaitVolumeEvent waits until the volume has an event with that reason, or with one of the others.
func (w *World) WaitVolumeEvent(ctx context.Context, volume, reason string, within time.Duration, or ...string) error {
	return w.Wait(ctx, "event "+reason+" on volume "+volume, within, func(ctx context.Context) (string, error) {
		var list eventsv1.EventList
		if err := w.List(ctx, &list); err != nil {
			return "", err
		}
		var reasons []string
		for _, event := range list.Items {
			if event.Regarding.Name == volume && event.Regarding.Kind == "Volume" {
				reasons = append(reasons, event.Reason)
			}
		}
		wanted := func(found string) bool { return found == reason || slices.Contains(or, found) }
		return unless(slices.ContainsFunc(reasons, wanted), "its events are %v", reasons), nil
	})
}

// ReplicaOn is the volume's replica on the node that is not being deleted.
func (w *World) ReplicaOn(ctx context.Context, volume, node string) (*v1beta2.Replica, error) {
	replicas, err := w.ReplicasOf(ctx, volume)
	if err != nil {
		return nil, err
	}
	for i := range replicas {
		if replicas[i].Spec.NodeID == node && replicas[i].DeletionTimestamp == nil {
			return &replicas[i], nil
		}
	}
	return nil, fmt.Errorf("no replica of %s is on %s", volume, node)
}

// MarkFailed marks every replica of the volume as failed now, as an older control plane does.
func (w *World) MarkFailed(ctx context.Context, replicas ...v1beta2.Replica) error {
	at := now()
	for i := range replicas {
		if err := w.patch(ctx, &replicas[i], map[string]any{"spec": map[string]any{"failedAt": at, "lastFailedAt": at}}); err != nil {
			return err
		}
	}
	return nil
}

// WaitFailed waits until count replicas of the volume have failed.
func (w *World) WaitFailed(ctx context.Context, volume string, count int, within time.Duration) error {
	return w.Wait(ctx, fmt.Sprintf("%d failed replicas of %s", count, volume), within, func(ctx context.Context) (string, error) {
		replicas, err := w.ReplicasOf(ctx, volume)
		failed := 0
		for _, r := range replicas {
			if r.Spec.FailedAt != "" {
				failed++
			}
		}
		return unless(failed == count, "%d of %d have failed", failed, len(replicas)), err
	})
}

// Rebuilding returns a text while not exactly count replicas on the node are being rebuilt.
func (w *World) Rebuilding(ctx context.Context, node string, count int) (string, error) {
	var list v1beta2.ReplicaList
	if err := w.List(ctx, &list); err != nil {
		return "", err
	}
	is := 0
	for _, r := range list.Items {
		if r.Spec.NodeID == node && r.Spec.HealthyAt == "" && r.Spec.FailedAt == "" && !v1beta2.IsSecondProcess(&r) {
			is++
		}
	}
	return unless(is == count, "%d are being rebuilt", is), nil
}

// HeldReplica returns a text while a deleted replica is not kept for that reason.
func (w *World) HeldReplica(ctx context.Context, name, reason string) (string, error) {
	replica := &v1beta2.Replica{}
	if err := w.Get(ctx, name, replica); err != nil {
		return "", err
	}
	c := conditions.Get(replica.Status.Conditions, v1beta2.ReplicaDataRemovalApproved)
	held := c != nil && c.Status == v1beta2.ConditionFalse && c.Reason == reason && c.Message != ""
	return unless(held && replica.DeletionTimestamp != nil, "its conditions are%s", conditionText(replica.Status.Conditions)), nil
}

// EvictDisk requests the eviction of the node's disk for the data engine, or cancels the request.
func (w *World) EvictDisk(ctx context.Context, node, dataEngine string, requested bool) error {
	name := diskName
	if dataEngine == v1beta2.DataEngineV1 {
		name = "default-disk"
	}
	return w.patch(ctx, w.NodeObject(node),
		map[string]any{"spec": map[string]any{"disks": map[string]any{name: map[string]any{"evictionRequested": requested}}}})
}

// Grow requests a larger volume.
func (w *World) Grow(ctx context.Context, volume string, size int64) error {
	object := &v1beta2.Volume{}
	object.Name, object.Namespace = volume, w.Namespace
	return w.patch(ctx, object, map[string]any{"spec": map[string]any{"size": strconv.FormatInt(size, 10)}})
}

// WaitGrown waits until engine and volume report that size.
func (w *World) WaitGrown(ctx context.Context, volume string, size int64, within time.Duration) error {
	return w.Wait(ctx, fmt.Sprintf("volume %s to have %d bytes", volume, size), within, func(ctx context.Context) (string, error) {
		var engines v1beta2.EngineList
		if err := w.List(ctx, &engines, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}); err != nil {
			return "", err
		}
		for _, e := range engines.Items {
			if e.Status.CurrentSize != size {
				return fmt.Sprintf("engine %s has %d; %s", e.Name, e.Status.CurrentSize, e.Status.LastExpansionError), nil
			}
		}
		return unless(len(engines.Items) > 0, "it has no engine"), nil
	})
}
