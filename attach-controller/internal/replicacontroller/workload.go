package replicacontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// workload reads where a workload waits for a strict-local volume whose replica is placed before the volume is wanted on a node.
func (o observer) workload(ctx context.Context, w *replica.World) error {
	if !replica.FollowsWorkload(*w) {
		return nil
	}
	tickets, err := lookup.Get(ctx, o.reader, o.namespace, w.Volume.Name, &v1beta2.VolumeAttachment{})
	if err != nil || tickets == nil {
		return err
	}
	volume := attach.VolumeOf(w.Volume)
	of := attach.World{Volume: &volume, Attachment: attach.AttachmentOf(tickets), Nodes: map[string]attach.Node{}}
	for _, t := range tickets.Spec.AttachmentTickets {
		node, err := lookup.Get(ctx, o.reader, o.namespace, t.NodeID, &v1beta2.Node{})
		if err != nil {
			return err
		}
		if node != nil {
			of.Nodes[t.NodeID] = attach.NodeOf(node)
		}
	}
	w.WorkloadNode = attach.WorkloadNode(of)
	return nil
}

// onTickets is the volume of a VolumeAttachment if it is a strict-local one without a place: its tickets may name one.
func (w watches) onTickets(ctx context.Context, tickets client.Object) []string {
	v, err := lookup.Get(ctx, w.Reader, w.Namespace, tickets.GetName(), &v1beta2.Volume{})
	if err != nil {
		log.FromContext(ctx).Error(err, "finding the volume of a VolumeAttachment", "name", tickets.GetName())
	}
	if v == nil || v.Spec.DataLocality != v1beta2.DataLocalityStrictLocal ||
		!conditions.IsFalse(v.Status.Conditions, v1beta2.VolumeScheduled) {
		return nil
	}
	return []string{v.Name}
}
