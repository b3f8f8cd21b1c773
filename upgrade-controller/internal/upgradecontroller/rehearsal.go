package upgradecontroller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/upgrade/rehearsal"
)

// rehearsalName is the name of the objects whose creation is tried; no object of that name ever exists.
const rehearsalName = "upgrade-rehearsal"

// rehearsalSource lists what this binary writes and deletes in an upgrade. Its pods are no part of it: those that check the image are
// created before.
type rehearsalSource struct {
	cached, live client.Reader
	namespace    string
}

// Requests implements rehearsal.Source.
func (s rehearsalSource) Requests(ctx context.Context, scope rehearsal.Scope) ([]rehearsal.Request, error) {
	var nodes v1beta2.NodeList
	if err := lookup.ListShared(ctx, s.cached, s.namespace, &nodes); err != nil {
		return nil, err
	}
	var out []rehearsal.Request
	for i := range nodes.Items {
		if n := &nodes.Items[i]; scope.Has(n.Name) {
			out = append(out, rehearsal.Patch(n, map[string]any{"upgradeRequested": true}))
		}
	}
	parts, err := scope.Parts(ctx, s.live, s.namespace)
	if err != nil {
		return nil, err
	}
	for name := range parts.Volumes {
		v, err := lookup.Shared(ctx, s.cached, s.namespace, name, &v1beta2.Volume{})
		if err != nil {
			return nil, err
		}
		if v != nil {
			out = append(out, rehearsal.Patch(v, map[string]any{"targetNodeID": v.Spec.NodeID}),
				rehearsal.Do("create", v1beta2.NewSnapshotBy(v1beta2.ManagedByUpgradeController, v, rehearsalName+"-"+name),
					func(ctx context.Context, c client.Client) error {
						return takeSnapshot(ctx, c, v, rehearsalName+"-"+name)
					}))
		}
	}
	for _, e := range parts.Engines {
		out = append(out, rehearsal.Patch(e, map[string]any{"lookRequestedAt": e.Spec.LookRequestedAt}))
	}
	meta := metav1.ObjectMeta{Namespace: s.namespace, Name: rehearsalName}
	upgrade := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: meta, Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: rehearsalName,
		DataEngine: v1beta2.DataEngineV2, InstanceManagerImage: scope.Image, DataEngineUpgradeManager: rehearsalName}}
	upgrade.Finalizers = []string{v1beta2.Finalizer}
	return append(out, rehearsal.Create(upgrade), rehearsal.Delete(upgrade),
		rehearsal.PatchStatus(upgrade, map[string]any{"state": v1beta2.UpgradeStateUndefined}),
		rehearsal.Delete(&v1beta2.Snapshot{ObjectMeta: meta})), nil
}
