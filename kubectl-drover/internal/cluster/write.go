package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// The rights of all writes of the plugin.
var (
	PatchTickets    = write("volumeattachments", "patch")
	PatchUpgrades   = write("dataengineupgrademanagers", "patch")
	DeleteOrphans   = write("orphans", "delete")
	PatchOrphans    = write("orphans", "patch")
	DeleteSnapshots = write("snapshots", "delete")
)

func write(resource, verb string) Right {
	return Right{Group: v1beta2.GroupVersion.Group, Resource: resource, Verb: verb}
}

// PatchSpec merges fields into the spec of the object, if it still is as it was read. IsChanged reports that it is not.
func (c *Client) PatchSpec(ctx context.Context, object client.Object, right Right, fields map[string]any) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion()},
		"spec":     fields,
	})
	if err != nil {
		return fmt.Errorf("writing the patch of %s: %w", object.GetName(), err)
	}
	return c.explainWrite(c.api.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)), object, right)
}

// Delete deletes the object, if it still is as it was read: another one of its name stays. IsChanged reports that it is not. One that is
// gone already is no error.
func (c *Client) Delete(ctx context.Context, object client.Object, right Right) error {
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := c.api.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.explainWrite(err, object, right)
}

// ReleaseOrphan gives a person's word that an Orphan which a policy deleted ends, if it still is as it was read.
func (c *Client) ReleaseOrphan(ctx context.Context, o *v1beta2.Orphan) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": o.UID, "resourceVersion": o.ResourceVersion,
		"annotations": map[string]string{v1beta2.AnnotationDeleteByHand: string(o.UID)},
	}})
	if err != nil {
		return fmt.Errorf("writing the patch of %s: %w", o.Name, err)
	}
	err = c.api.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	return c.explainWrite(err, o, PatchOrphans)
}

// IsChanged reports whether a write was refused because the object is not as it was read.
func IsChanged(err error) bool { return apierrors.IsConflict(err) }

func (c *Client) explainWrite(err error, object client.Object, right Right) error {
	if err == nil || IsChanged(err) || apierrors.IsForbidden(err) {
		return c.explain(err, right)
	}
	return fmt.Errorf("cannot %s %s %s: %w", right.Verb, right.Name(), object.GetName(), err)
}
