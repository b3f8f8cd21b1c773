package enginepoll

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// observeSnapshots reads the volume's Snapshots, and whose the names are that the engine lists without one of them.
func (c *Controller) observeSnapshots(ctx context.Context, f *facts) error {
	list, err := c.snapshotsOf(ctx, f.engine.Spec.VolumeName)
	if err != nil {
		return err
	}
	f.snapshots, f.others = make(map[string]*v1beta2.Snapshot, len(list)), map[string]bool{}
	for i := range list {
		f.snapshots[list[i].Name] = &list[i]
	}
	for name := range f.seen.Snapshots {
		if name == enginesnapshot.Head || f.snapshots[name] != nil {
			continue
		}
		if f.others[name], err = c.taken(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// snapshotsOf are the Snapshots of a volume, which the cache shares.
func (c *Controller) snapshotsOf(ctx context.Context, volume string) ([]v1beta2.Snapshot, error) {
	var list v1beta2.SnapshotList
	err := lookup.ListShared(ctx, c.rt.Client, c.rt.Namespace, &list, client.MatchingFields{kube.FieldVolume: volume})
	return list.Items, err
}

// taken reports whether no Snapshot can have the name: another volume's object has it, or it is not a valid object name.
func (c *Controller) taken(ctx context.Context, name string) (bool, error) {
	if !lookup.Nameable(name) {
		return true, nil
	}
	other, err := lookup.Shared(ctx, c.rt.Client, c.rt.Namespace, name, &v1beta2.Snapshot{})
	return other != nil, err
}

// pending reports whether snapshots of the engine's volume are being removed, so that a poll requests purges.
func (c *Controller) pending(ctx context.Context, e *v1beta2.Engine) (bool, error) {
	list, err := c.snapshotsOf(ctx, e.Spec.VolumeName)
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
