package snapshotcontroller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/upgrade/rehearsal"
)

// rehearsalSource lists what this binary writes and deletes for the snapshots of an upgrade.
type rehearsalSource struct {
	cached, live client.Reader
	namespace    string
}

// Requests implements rehearsal.Source. The Snapshots do not exist yet: of them, the role alone is tried.
func (s rehearsalSource) Requests(ctx context.Context, scope rehearsal.Scope) ([]rehearsal.Request, error) {
	parts, err := scope.Parts(ctx, s.live, s.namespace)
	if err != nil {
		return nil, err
	}
	snapshot := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "upgrade-rehearsal"}}
	out := []rehearsal.Request{rehearsal.Patch(snapshot, map[string]any{"createSnapshot": true}), rehearsal.Delete(snapshot),
		rehearsal.PatchStatus(snapshot, map[string]any{"readyToUse": false})}
	for name := range parts.Volumes {
		attachment, err := lookup.Shared(ctx, s.cached, s.namespace, name, &v1beta2.VolumeAttachment{})
		if err != nil {
			return nil, err
		}
		if attachment != nil {
			out = append(out, rehearsal.Do("patch", attachment, func(ctx context.Context, c client.Client) error {
				return status.MergeTickets(ctx, c, attachment, map[string]*v1beta2.AttachmentTicket{"upgrade-rehearsal": nil})
			}))
		}
	}
	return out, nil
}
