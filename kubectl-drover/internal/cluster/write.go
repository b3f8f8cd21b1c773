package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
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
	// AskWho is the right to ask the API server who oneself is, which it gives everybody by default.
	AskWho = Right{Group: authenticationv1.GroupName, Resource: "selfsubjectreviews", Verb: "create", Everywhere: true}
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

// Who returns the name of the user as whom the API server knows this client.
func (c *Client) Who(ctx context.Context) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.api.Create(ctx, review); err != nil {
		return "", c.explain(err, AskWho)
	}
	return review.Status.UserInfo.Username, nil
}

// GiveUpOrphan records that an Orphan is given up, by whom and when, if it still is as it was read.
func (c *Client) GiveUpOrphan(ctx context.Context, o *v1beta2.Orphan, by string) error {
	return c.annotate(ctx, o, map[string]string{v1beta2.AnnotationGivenUp: string(o.UID), v1beta2.AnnotationGivenUpBy: by})
}

// ReleaseOrphan gives a person's word that an Orphan which a policy deleted ends, if it still is as it was read.
func (c *Client) ReleaseOrphan(ctx context.Context, o *v1beta2.Orphan) error {
	return c.annotate(ctx, o, map[string]string{v1beta2.AnnotationDeleteByHand: string(o.UID)})
}

// annotate writes annotations to an Orphan, if it still is as it was read.
func (c *Client) annotate(ctx context.Context, o *v1beta2.Orphan, annotations map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": o.UID, "resourceVersion": o.ResourceVersion, "annotations": annotations,
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
