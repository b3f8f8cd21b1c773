package runkit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	droverevents "drover.dev/drover/shared/events"
)

// EventWriteRefused is the reason of the Warning about a write that the API server refused: by an admission policy, a webhook, a quota, or
// a rule of the kind. It is about the object that was to be written, and about the owner of one that could not be created.
const EventWriteRefused = "WriteRefused"

// refusals passes reads and writes, and emits EventWriteRefused for each write that is refused. A conflict or a missing object is no
// refusal.
type refusals struct {
	client.Client
	recorder events.EventRecorder
}

// emit emits the event if the write was refused, and returns the error as it is. The verb is that of the event's action, as in CreateNode:
// the recorder joins events of one reason, action and object.
func (r refusals) emit(ctx context.Context, err error, verb string, obj client.Object) error {
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return err
	}
	gvk, unknown := apiutil.GVKForObject(obj, r.Scheme())
	if unknown != nil {
		return err
	}
	for _, regarding := range r.regarding(ctx, verb, gvk, obj) {
		droverevents.Emit(r.recorder, regarding,
			droverevents.Event{Type: corev1.EventTypeWarning, Reason: EventWriteRefused, Action: verb + gvk.Kind,
				Note: fmt.Sprintf("The API server refused %s of %s %s: %v. It is tried again; change the policy, webhook, quota or Role "+
					"that refuses it.",
					verb, gvk.Kind, obj.GetName(), err)})
	}
	return err
}

// regarding are the objects that a refused write is about: those that exist and have a namespace, since events outside it may not be
// written.
func (r refusals) regarding(ctx context.Context, verb string, gvk schema.GroupVersionKind, obj client.Object) []runtime.Object {
	if obj.GetNamespace() == "" {
		return nil
	}
	if verb != "Create" {
		return []runtime.Object{about(gvk.GroupVersion().String(), gvk.Kind, obj.GetNamespace(), obj.GetName(), r.uidOf(ctx, gvk, obj))}
	}
	var out []runtime.Object
	for _, o := range obj.GetOwnerReferences() {
		out = append(out, about(o.APIVersion, o.Kind, obj.GetNamespace(), o.Name, o.UID))
	}
	return out
}

// uidOf is the UID of an object that may be a configuration without one; empty where it cannot be read.
func (r refusals) uidOf(ctx context.Context, gvk schema.GroupVersionKind, obj client.Object) types.UID {
	if obj.GetUID() != "" {
		return obj.GetUID()
	}
	typed, err := r.Scheme().New(gvk)
	if err != nil {
		return ""
	}
	found, ok := typed.(client.Object)
	if !ok || r.Get(ctx, client.ObjectKeyFromObject(obj), found) != nil {
		return ""
	}
	return found.GetUID()
}

// about names an object without its version: refusals of two versions are one event.
func about(apiVersion, kind, namespace, name string, uid types.UID) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
}

// Create creates an object.
func (r refusals) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return r.emit(ctx, r.Client.Create(ctx, obj, opts...), "Create", obj)
}

// Update writes an object.
func (r refusals) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return r.emit(ctx, r.Client.Update(ctx, obj, opts...), "Update", obj)
}

// Patch patches an object.
func (r refusals) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return r.emit(ctx, r.Client.Patch(ctx, obj, patch, opts...), "Patch", obj)
}

// Delete deletes an object.
func (r refusals) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return r.emit(ctx, r.Client.Delete(ctx, obj, opts...), "Delete", obj)
}

// Apply applies a configuration.
func (r refusals) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return r.applied(ctx, r.Client.Apply(ctx, config, opts...), "Apply", config)
}

// applied is emit for a configuration.
func (r refusals) applied(ctx context.Context, err error, verb string, config runtime.ApplyConfiguration) error {
	if obj, ok := config.(client.Object); ok {
		return r.emit(ctx, err, verb, obj)
	}
	return err
}

// Status returns the writer of statuses.
func (r refusals) Status() client.SubResourceWriter { return refusedStatus{r.Client.Status(), r} }

type refusedStatus struct {
	client.SubResourceWriter
	refusals refusals
}

// Update writes a status.
func (s refusedStatus) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.refusals.emit(ctx, s.SubResourceWriter.Update(ctx, obj, opts...), "UpdateStatus", obj)
}

// Patch patches a status.
func (s refusedStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.refusals.emit(ctx, s.SubResourceWriter.Patch(ctx, obj, patch, opts...), "PatchStatus", obj)
}

// Apply applies a status.
func (s refusedStatus) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	return s.refusals.applied(ctx, s.SubResourceWriter.Apply(ctx, config, opts...), "ApplyStatus", config)
}
