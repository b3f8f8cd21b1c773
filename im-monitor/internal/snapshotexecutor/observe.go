package snapshotexecutor

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// observe reads the volume's objects beside the poll, and returns its Snapshots by name, too: what is written is bound to these versions.
func (h *Executor) observe(ctx context.Context, l Poll) (enginesnapshot.World, map[string]*v1beta2.Snapshot, error) {
	e := l.Engine
	w := enginesnapshot.World{
		Began: l.Began, VolumeUID: engine.VolumeUID(e.OwnerReferences, e.Spec.VolumeName), Volume: e.Spec.VolumeName,
		V2:     e.Spec.DataEngine == v1beta2.DataEngineV2,
		Active: e.Spec.Active, Alone: l.Alone, RW: l.Seen.RW(), Busy: l.Busy, Rebuilding: l.Adding, Purging: v1beta2.IsPurging(l.Seen.Purges),
		PurgeError: engine.PurgeError(l.Seen.Purges), Listed: l.Seen.Snapshots,
		Limits: engine.SnapshotLimits(e), Others: map[string]bool{}, Memory: h.memory.view(l),
		Rules: enginesnapshot.Rules{Gap: h.options.Gap, Gather: h.options.Gather, Longest: gatherLongest * h.options.Gather,
			Busy: l.Period},
	}
	for _, r := range l.Seen.Replicas {
		w.Rebuilding = w.Rebuilding || r.Mode == v1beta2.ReplicaModeWO
	}
	if h.rt.ElectedAt != nil {
		w.ElectedAt = h.rt.ElectedAt()
		w.FencingDelayEnds = w.ElectedAt.Add(h.options.PostElectionDelay)
	}
	list, err := h.ofVolume(ctx, e.Spec.VolumeName)
	if err != nil {
		return w, nil, err
	}
	known := make(map[string]*v1beta2.Snapshot, len(list))
	for i := range list {
		known[list[i].Name] = &list[i]
		w.Snapshots = append(w.Snapshots, snapshotOf(&list[i]))
	}
	for name := range l.Seen.Snapshots {
		if name == enginesnapshot.Head || known[name] != nil {
			continue
		}
		if w.Others[name], err = h.taken(ctx, name); err != nil {
			return w, nil, err
		}
	}
	w.Now = h.rt.Clock.Now()
	return w, known, nil
}

// ofVolume are the Snapshots of a volume, which the cache shares.
func (h *Executor) ofVolume(ctx context.Context, volume string) ([]v1beta2.Snapshot, error) {
	var list v1beta2.SnapshotList
	if err := h.rt.Client.List(ctx, &list, client.InNamespace(h.rt.Namespace), client.MatchingFields{byVolume: volume},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the snapshots of volume %s: %w", volume, err)
	}
	return list.Items, nil
}

// taken reports whether no Snapshot can have the name: another volume's object has it, or it is not a valid object name.
func (h *Executor) taken(ctx context.Context, name string) (bool, error) {
	if !lookup.Nameable(name) {
		return true, nil
	}
	other, err := lookup.Shared(ctx, h.rt.Client, h.rt.Namespace, name, &v1beta2.Snapshot{})
	return other != nil, err
}

// Pending reports whether snapshots of the engine's volume are being removed, so that a poll requests purges.
func (h *Executor) Pending(ctx context.Context, e *v1beta2.Engine) (bool, error) {
	list, err := h.ofVolume(ctx, e.Spec.VolumeName)
	for i := range list {
		if s := snapshotOf(&list[i]); enginesnapshot.MayRemove(s) && !enginesnapshot.FailedSince(s) {
			return true, err
		}
	}
	return false, err
}

func snapshotOf(o *v1beta2.Snapshot) enginesnapshot.Snapshot {
	current := o.Status.Conditions
	out := enginesnapshot.Snapshot{
		Name: o.Name, Owner: engine.VolumeUID(o.OwnerReferences, o.Spec.Volume), Create: o.Spec.CreateSnapshot, Seen: o.Status.CreationTime != "",
		Deleting: o.DeletionTimestamp != nil, Approved: conditions.IsTrue(current, v1beta2.SnapshotRemovalApproved) &&
			conditions.Reason(current, v1beta2.SnapshotRemovalApproved) == v1beta2.ReasonRequested,
		Provisioned: conditions.Get(current, v1beta2.SnapshotProvisioned), Withdrawn: conditions.Get(current, v1beta2.SnapshotWithdrawn),
		RemovalFailed: conditions.Get(current, v1beta2.SnapshotRemovalFailed),
	}
	if c := conditions.Get(current, v1beta2.SnapshotRemovalApproved); c != nil {
		if at, err := time.Parse(time.RFC3339, c.LastTransitionTime); err == nil {
			out.Since = at
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, o.Status.RequestedTime); err == nil {
		out.Requested = at
	}
	return out
}
