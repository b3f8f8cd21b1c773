// Package status holds the narrow ways in which Drover writes to objects that several controllers share. None of them
// sends a field that its caller did not name, so that fields of others, and fields that this version does not know,
// stay as they are.
package status

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"drover.dev/drover/shared/api/v1beta2"
)

// Option changes the preconditions of a write, or what its caller learns of it.
type Option func(*options)

type options struct {
	atVersion bool
	written   *client.Object
}

// AtVersion lets the write fail with a conflict unless the object is still of the UID and resourceVersion that were
// evaluated. Approvals and policy deletions carry it.
func AtVersion() Option { return func(o *options) { o.atVersion = true } }

// Written lets the caller have the object as the write left it; one that failed changes nothing there. Apply does not
// know it.
func Written(into *client.Object) Option { return func(o *options) { o.written = into } }

// Apply makes these status fields the owner's by server-side apply. They are the owner's full set: what it applied
// before and leaves out now is removed. A missing object is NotFound.
func Apply(ctx context.Context, c client.Client, obj client.Object, owner string, fields map[string]any, opts ...Option) error {
	patch, err := partial(c, obj, opts)
	if err != nil {
		return err
	}
	patch.Object["status"] = fields
	err = c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(patch), client.FieldOwner(owner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying status of %s: %w", describe(patch), err)
	}
	return nil
}

// ConditionsField renders conditions for the field "conditions" of Apply.
func ConditionsField(list []v1beta2.Condition) []any {
	out := make([]any, 0, len(list))
	for _, c := range list {
		field := map[string]any{
			"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message,
			"lastProbeTime": c.LastProbeTime, "lastTransitionTime": c.LastTransitionTime,
		}
		if c.ObservedGeneration != 0 {
			field["observedGeneration"] = c.ObservedGeneration
		}
		out = append(out, field)
	}
	return out
}

// MergeStatus merges fields into the status by JSON merge patch: of maps only the named keys change, null removes one.
func MergeStatus(ctx context.Context, c client.Client, obj client.Object, fields map[string]any, opts ...Option) error {
	return merge(ctx, c, obj, statusPart, fields, opts)
}

// MergeSpec merges fields into the spec by JSON merge patch: of maps only the named keys change, null removes one.
func MergeSpec(ctx context.Context, c client.Client, obj client.Object, fields map[string]any, opts ...Option) error {
	return merge(ctx, c, obj, "spec", fields, opts)
}

// MergeMetadata merges fields into the metadata of the version that was evaluated, by JSON merge patch: of maps only the named keys
// change; lists, as finalizers and owner references, are replaced.
func MergeMetadata(ctx context.Context, c client.Client, obj client.Object, fields map[string]any) error {
	return merge(ctx, c, obj, metadataPart, fields, []Option{AtVersion()})
}

// MergeTickets writes, or with nil removes, tickets of a VolumeAttachment by their ids, and changes no other. Every field of a
// ticket is named, so that an empty one is emptied.
func MergeTickets(ctx context.Context, c client.Client, a *v1beta2.VolumeAttachment, tickets map[string]*v1beta2.AttachmentTicket,
	opts ...Option) error {
	fields := make(map[string]any, len(tickets))
	for id, t := range tickets {
		if t == nil {
			fields[id] = nil
			continue
		}
		fields[id] = map[string]any{"id": t.ID, "type": t.Type, "nodeID": t.NodeID, "parameters": t.Parameters, "generation": t.Generation}
	}
	return MergeSpec(ctx, c, a, map[string]any{"attachmentTickets": fields}, opts...)
}

const metadataPart, statusPart = "metadata", "status"

// Merge merges fields into another part of the object, as the data of a Secret, by JSON merge patch.
func Merge(ctx context.Context, c client.Client, obj client.Object, part string, fields map[string]any, opts ...Option) error {
	return merge(ctx, c, obj, part, fields, opts)
}

func merge(ctx context.Context, c client.Client, obj client.Object, part string, fields map[string]any, opts []Option) error {
	body, name, err := mergeBody(c, obj, part, fields, opts)
	if err != nil {
		return err
	}
	written, patch := bare(obj), client.RawPatch("application/merge-patch+json", body)
	if part == statusPart {
		err = c.Status().Patch(ctx, written, patch)
	} else {
		err = c.Patch(ctx, written, patch)
	}
	if err != nil {
		return fmt.Errorf("patching %s of %s: %w", part, name, err)
	}
	if into := chosen(opts).written; into != nil {
		*into = written
	}
	return nil
}

// DropFinalizer removes one finalizer from the version that was evaluated. An object that does not carry the finalizer is success; one that
// is gone is NotFound: somebody dropped it before, perhaps this process. One that changed meanwhile is a conflict.
func DropFinalizer(ctx context.Context, c client.Client, obj client.Object, finalizer string) error {
	changed := bare(obj)
	changed.SetFinalizers(append([]string(nil), obj.GetFinalizers()...))
	if !controllerutil.RemoveFinalizer(changed, finalizer) {
		return nil
	}
	err := MergeMetadata(ctx, c, obj, map[string]any{"finalizers": changed.GetFinalizers()})
	if err != nil {
		return fmt.Errorf("dropping finalizer: %w", err)
	}
	return nil
}

// Delete deletes exactly the version that was evaluated, by UID and resourceVersion. An object that is gone is success;
// one that changed meanwhile is a conflict.
func Delete(ctx context.Context, c client.Client, obj client.Object) error {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	err := c.Delete(ctx, bare(obj), client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s: %w", obj.GetName(), err)
	}
	return nil
}

// IsConflict reports whether the object changed since it was evaluated: decide again.
func IsConflict(err error) bool { return apierrors.IsConflict(err) }

func mergeBody(c client.Client, obj client.Object, part string, fields map[string]any, opts []Option) ([]byte, string, error) {
	patch, err := partial(c, obj, opts)
	if err != nil {
		return nil, "", err
	}
	name := describe(patch)
	body := map[string]any{part: fields}
	if version, uid := patch.GetResourceVersion(), patch.GetUID(); version != "" {
		metadata := map[string]any{"resourceVersion": version, "uid": string(uid)}
		if part == metadataPart {
			maps.Copy(metadata, fields)
		}
		body[metadataPart] = metadata
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, "", fmt.Errorf("rendering patch of %s: %w", name, err)
	}
	return raw, name, nil
}

// partial is the object's identity and nothing else, with its version where the write is bound to it.
func partial(c client.Client, obj client.Object, opts []Option) (*unstructured.Unstructured, error) {
	kind, err := kindOf(c, obj)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	out.SetNamespace(obj.GetNamespace())
	out.SetName(obj.GetName())
	if chosen(opts).atVersion {
		out.SetUID(obj.GetUID())
		out.SetResourceVersion(obj.GetResourceVersion())
	}
	return out, nil
}

func chosen(opts []Option) (out options) {
	for _, o := range opts {
		o(&out)
	}
	return out
}

func kindOf(c client.Client, obj client.Object) (schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(obj, c.Scheme())
	if err != nil {
		return kind, fmt.Errorf("finding the kind of %s: %w", obj.GetName(), err)
	}
	return kind, nil
}

// bare copies the object so that the answer of a write never overwrites an object that a cache shares.
func bare(obj client.Object) client.Object { return obj.DeepCopyObject().(client.Object) }

func describe(u *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
}
