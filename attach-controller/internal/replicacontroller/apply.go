package replicacontroller

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// create creates the replicas that were placed.
func (r *reconciler) create(ctx context.Context, v *v1beta2.Volume, verdict replica.Verdict) error {
	if len(verdict.Create) == 0 {
		return nil
	}
	if err := lookup.Confirm(ctx, r.uncached, v, &v1beta2.Volume{}); err != nil {
		return err
	}
	for _, disk := range verdict.Create {
		one := r.replica(v, verdict, disk)
		name, key := one.Name, one.DeepCopy()
		r.remember(v.Name, name)
		if err := r.client.Create(ctx, one); err != nil {
			return fmt.Errorf("creating replica %s: %w", name, err)
		}
		if verdict.Rebuild {
			r.observer.reservations.reserve(key)
		} else {
			r.observer.reservations.see(key)
		}
		events.Emit(r.recorder, v, created(key))
		actions.WithLabelValues("create").Inc()
	}
	return nil
}

func (r *reconciler) replica(v *v1beta2.Volume, verdict replica.Verdict, disk placement.Disk) *v1beta2.Replica {
	s := v.Spec
	return &v1beta2.Replica{
		ObjectMeta: metav1.ObjectMeta{
			Name: v.Name + "-r-" + r.newID(), Namespace: v.Namespace, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{
				v1beta2.LabelVolume: v1beta2.VolumeLabelValue(v.Name), v1beta2.LabelNode: disk.Node, v1beta2.LabelDiskUUID: disk.UUID,
			},
			OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)},
		},
		Spec: v1beta2.ReplicaSpec{
			Active: true, BackingImage: s.BackingImage, DataDirectoryName: v.Name + "-" + r.newID(), DataEngine: s.DataEngine,
			DesireState: v1beta2.InstanceStateStopped, DiskID: disk.UUID, DiskPath: disk.Path, EngineName: verdict.Engine,
			Image:  verdict.Image,
			NodeID: disk.Node, RevisionCounterDisabled: s.RevisionCounterDisabled, SnapshotMaxCount: s.SnapshotMaxCount,
			SnapshotMaxSize: s.SnapshotMaxSize, VolumeName: v.Name, VolumeSize: v1beta2.SizeOf(v),
		},
	}
}

// apply applies the rest of a verdict: approvals before the writes that rely on them, the volume's condition last.
func (r *reconciler) apply(ctx context.Context, w replica.World, verdict replica.Verdict) error {
	if err := r.approve(ctx, verdict.Approvals); err != nil {
		r.unreserve(ctx, verdict.Patches)
		return err
	}
	failed := !reflect.DeepEqual(verdict.Failures, failuresOf(w.Volume))
	if failed { // before the replicas that show the failures are used again or deleted
		if err := r.scheduled(ctx, w.Volume, verdict); err != nil {
			r.unreserve(ctx, verdict.Patches)
			return err
		}
	}
	if err := r.patches(ctx, w, verdict); err != nil {
		return err
	}
	for _, d := range verdict.Deletes {
		if err := status.Delete(ctx, r.client, d.Replica); err != nil {
			return err
		}
		r.written.Record(d.Replica)
		events.Emit(r.recorder, w.Volume, deleted(d))
		actions.WithLabelValues("delete").Inc()
	}
	for _, record := range verdict.Abandoned {
		if err := abandonedcontroller.Write(ctx, r.client, r.observer.namespace, record); err != nil {
			return err
		}
	}
	for _, one := range verdict.Release {
		if err := r.release(ctx, one, slices.Contains(verdict.OutOfReach, one)); err != nil {
			return err
		}
	}
	if verdict.Poll != "" {
		fields := map[string]any{"lookRequestedAt": verdict.Poll}
		if err := status.MergeSpec(ctx, r.client, w.Engine, fields, status.AtVersion()); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	r.wait(ctx, nameOf(w), verdict.WaitsFor)
	if failed || verdict.Scheduled == nil && verdict.AcceptedSize == 0 {
		return nil
	}
	return r.scheduled(ctx, w.Volume, verdict)
}

func (r *reconciler) approve(ctx context.Context, approvals []replica.Approval) error {
	for _, a := range approvals {
		fields := map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{a.Condition})}
		if a.LookRequestedAt != "" {
			fields["lookRequestedAt"] = a.LookRequestedAt
		}
		err := status.Apply(ctx, r.client, a.Replica, Owner, fields, status.AtVersion())
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		r.written.Record(a.Replica)
		actions.WithLabelValues("approve").Inc()
	}
	return nil
}

func nameOf(w replica.World) string {
	if w.Volume != nil {
		return w.Volume.Name
	}
	return w.Replicas[0].Spec.VolumeName
}

func (r *reconciler) patches(ctx context.Context, w replica.World, verdict replica.Verdict) error {
	for i, p := range verdict.Patches {
		if err := status.MergeSpec(ctx, r.client, p.Replica, p.Spec, status.AtVersion()); client.IgnoreNotFound(err) != nil {
			r.unreserve(ctx, verdict.Patches[i:])
			return err
		}
		r.written.Record(p.Replica)
		if _, back := p.Spec["failedAt"]; back {
			events.Emit(r.recorder, w.Volume, takenBack(p.Replica))
			actions.WithLabelValues("take-back").Inc()
		}
	}
	return nil
}

// release drops the finalizer of a replica, and reports a directory that nobody can remove.
func (r *reconciler) release(ctx context.Context, one *v1beta2.Replica, outOfReach bool) error {
	if err := status.DropFinalizer(ctx, r.client, one, v1beta2.Finalizer); err != nil {
		return client.IgnoreNotFound(err)
	}
	if outOfReach {
		events.Emit(r.recorder, one, nodeGone(one))
	}
	actions.WithLabelValues("release").Inc()
	return nil
}

// scheduled writes the fields of the volume's status that this package owns.
func (r *reconciler) scheduled(ctx context.Context, v *v1beta2.Volume, verdict replica.Verdict) error {
	// Server-side apply removes the fields of this owner that are not repeated.
	own := conditions.Owned(v.Status.Conditions, v1beta2.VolumeScheduled)
	if verdict.Scheduled != nil {
		own = []v1beta2.Condition{*verdict.Scheduled}
	}
	fields := map[string]any{"conditions": status.ConditionsField(own)}
	if accepted := max(verdict.AcceptedSize, v.Status.AcceptedSize); accepted > 0 {
		fields["acceptedSize"] = accepted
	}
	if f := verdict.Failures; f != nil {
		fields["rebuildFailures"] = failuresField(f)
	}
	if err := status.Apply(ctx, r.client, v, Owner, fields); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.written.Record(v)
	if verdict.Scheduled == nil {
		return nil
	}
	quiet := []string{v1beta2.ReasonWaitingForNode, v1beta2.ReasonRebuildLimit}
	if verdict.Scheduled.Status == v1beta2.ConditionFalse && !slices.Contains(quiet, verdict.Scheduled.Reason) {
		events.Emit(r.recorder, v, noPlace(*verdict.Scheduled))
	}
	return nil
}

// failuresOf returns the stored failures of a volume's rebuilds; nil: none.
func failuresOf(v *v1beta2.Volume) *v1beta2.RebuildFailures {
	if v == nil {
		return nil
	}
	return v.Status.RebuildFailures
}

func failuresField(f *v1beta2.RebuildFailures) map[string]any {
	byNode := map[string]any{}
	for node, count := range f.ByNode {
		byNode[node] = int64(count)
	}
	out := map[string]any{"count": int64(f.Count), "lastFailedAt": f.LastFailedAt, "message": f.Message, "byNode": byNode}
	if f.NextAttemptAt != "" {
		out["nextAttemptAt"] = f.NextAttemptAt
	}
	return out
}
