package machinecontroller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// apply applies a verdict: the writes of one stage in parallel, stage after stage, and the volume's own status last. Events are emitted as
// soon as their write is done.
func (r *reconciler) apply(ctx context.Context, v *v1beta2.Volume, verdict machine.Verdict, later bool) error {
	if err := r.writeAll(ctx, v, verdict.Writes); err != nil {
		return err
	}
	reported, err := r.status(ctx, v, verdict, later)
	if reported {
		r.emit(v, verdict.Events)
	}
	return err
}

func (r *reconciler) writeAll(ctx context.Context, v *v1beta2.Volume, rest []machine.Write) error {
	for len(rest) > 0 {
		stage := rest[0].Stage
		next := slices.IndexFunc(rest, func(w machine.Write) bool { return w.Stage != stage })
		if next < 0 {
			next = len(rest)
		}
		if slices.ContainsFunc(rest[:next], func(w machine.Write) bool { return w.Kind == machine.Create }) {
			if err := lookup.Confirm(ctx, r.observer.uncached, v, &v1beta2.Volume{}); err != nil {
				return err
			}
		}
		group, groupCtx := errgroup.WithContext(ctx)
		for _, w := range rest[:next] {
			group.Go(func() error {
				if err := r.write(groupCtx, w); err != nil {
					return err
				}
				r.emit(v, w.Events)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		rest = rest[next:]
	}
	return nil
}

func (r *reconciler) write(ctx context.Context, w machine.Write) error {
	object, ok := w.Object.(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", w.Object)
	}
	switch w.Kind {
	case machine.Create:
		err := r.client.Create(ctx, object.DeepCopyObject().(client.Object))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
		return nil
	case machine.Abandon:
		return abandonedcontroller.Write(ctx, r.client, object.GetNamespace(), w.Record)
	}
	err := r.change(ctx, object, w)
	if err == nil {
		r.written.Record(object)
	}
	return err
}

// change changes or deletes an object that the cache has.
func (r *reconciler) change(ctx context.Context, object client.Object, w machine.Write) error {
	switch w.Kind {
	case machine.Delete:
		return status.Delete(ctx, r.client, object)
	case machine.DropFinalizer:
		return client.IgnoreNotFound(status.DropFinalizer(ctx, r.client, object, v1beta2.Finalizer))
	}
	body := map[string]any{}
	metadata := map[string]any{}
	if len(w.Labels) > 0 {
		metadata["labels"] = w.Labels
	}
	if w.Finalizer {
		metadata["finalizers"] = append(slices.Clone(object.GetFinalizers()), v1beta2.Finalizer)
	}
	body["metadata"] = atVersion(object, metadata)
	if len(w.Spec) > 0 {
		body["spec"] = w.Spec
	}
	return r.patch(ctx, object, body)
}

func atVersion(object metav1.Object, metadata map[string]any) map[string]any {
	metadata["resourceVersion"], metadata["uid"] = object.GetResourceVersion(), string(object.GetUID())
	return metadata
}

func (r *reconciler) patch(ctx context.Context, object client.Object, body map[string]any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("rendering the patch of %T %s: %w", object, object.GetName(), err)
	}
	if err := r.client.Patch(ctx, object.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, raw)); err != nil {
		return fmt.Errorf("patching %T %s: %w", object, object.GetName(), err)
	}
	return nil
}

// status writes the volume's status in one patch, and reports whether it did. A patch of the volume in this pass has changed its
// resourceVersion: then the next pass writes the status. later: what the volume waits for is not worth a write yet.
func (r *reconciler) status(ctx context.Context, v *v1beta2.Volume, verdict machine.Verdict, later bool) (reported bool, err error) {
	if slices.ContainsFunc(verdict.Writes, func(w machine.Write) bool { return w.Object.GetUID() == v.UID }) {
		return false, nil
	}
	own := machine.Owned(v.Status.Conditions)
	fields := map[string]any{}
	maps.Copy(fields, verdict.Status)
	if !conditions.Equal(own, verdict.Conditions) && !later {
		fields["conditions"] = merged(v.Status.Conditions, verdict.Conditions)
	}
	if len(fields) == 0 {
		return false, nil
	}
	if err = status.MergeStatus(ctx, r.client, v, fields, status.AtVersion()); err == nil {
		r.written.Record(v)
	}
	return err == nil, client.IgnoreNotFound(err)
}

// merged is the whole list of conditions with ours in it: the write carries the resourceVersion that was read, so that no other writer's
// condition is lost.
func merged(all, own []v1beta2.Condition) []any {
	out := slices.Clone(own)
	for _, c := range all {
		if len(machine.Owned([]v1beta2.Condition{c})) == 0 {
			out = append(out, c)
		}
	}
	return status.ConditionsField(out)
}
