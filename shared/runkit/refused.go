package runkit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	droverevents "drover.dev/drover/shared/events"
)

// EventWriteRefused is the reason of the Warning about a write that the API server refused: by an admission policy, a webhook, a quota, or a rule of
// the kind. It is about the object that was to be written, and about the owner of one that could not be created.
const EventWriteRefused = "WriteRefused"

// refusals passes reads and writes, and emits EventWriteRefused for each write that is refused. A conflict or a missing object is no refusal.
type refusals struct {
	client.Client
	recorder events.EventRecorder
}

// emit emits the event, if the write was refused, and returns the error as it is. The verb is that of the event's action, as in CreateNode: the
// recorder joins events of one reason, action and object.
func (r refusals) emit(err error, verb string, obj client.Object) error {
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return err
	}
	kind := kindName(r.Scheme(), obj)
	for _, regarding := range r.regarding(verb, obj) {
		droverevents.Emit(r.recorder, regarding, droverevents.Event{Type: corev1.EventTypeWarning, Reason: EventWriteRefused, Action: verb + kind,
			Note: fmt.Sprintf("The API server refused %s of %s %s: %v. It is tried again; change the policy, webhook, quota or Role that refuses it.",
				verb, kind, obj.GetName(), err)})
	}
	return err
}

// regarding are the objects that a refused write is about: those that exist and have a namespace, since events outside it may not be written.
func (r refusals) regarding(verb string, obj client.Object) []runtime.Object {
	if obj.GetNamespace() == "" {
		return nil
	}
	if verb != "Create" {
		return []runtime.Object{obj}
	}
	var out []runtime.Object
	for _, o := range obj.GetOwnerReferences() {
		out = append(out, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: o.Name, UID: o.UID}})
	}
	return out
}

// Create creates an object.
func (r refusals) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return r.emit(r.Client.Create(ctx, obj, opts...), "Create", obj)
}

// Update writes an object.
func (r refusals) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return r.emit(r.Client.Update(ctx, obj, opts...), "Update", obj)
}

// Patch patches an object.
func (r refusals) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return r.emit(r.Client.Patch(ctx, obj, patch, opts...), "Patch", obj)
}

// Delete deletes an object.
func (r refusals) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return r.emit(r.Client.Delete(ctx, obj, opts...), "Delete", obj)
}

// Status returns the writer of statuses.
func (r refusals) Status() client.SubResourceWriter { return refusedStatus{r.Client.Status(), r} }

type refusedStatus struct {
	client.SubResourceWriter
	refusals refusals
}

// Update writes a status.
func (s refusedStatus) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.refusals.emit(s.SubResourceWriter.Update(ctx, obj, opts...), "UpdateStatus", obj)
}

// Patch patches a status.
func (s refusedStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.refusals.emit(s.SubResourceWriter.Patch(ctx, obj, patch, opts...), "PatchStatus", obj)
}
