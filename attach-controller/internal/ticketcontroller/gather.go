package ticketcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// gatherer fills parts of the core's World. It only reads.
type gatherer struct {
	reader    client.Reader
	namespace string
	// of selects the engines, or replicas, of a volume.
	of func(volume string) client.ListOption
}

// labelled selects by label, which every reader supports.
func labelled(volume string) client.ListOption {
	return client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
}

// indexed selects by the index of the cache.
func indexed(volume string) client.ListOption { return client.MatchingFields{kube.FieldVolume: volume} }

// readEngine reads the volume's active engine, or, if none is active, the last by name.
func (g gatherer) readEngine(ctx context.Context, w *ticket.World) error {
	var list v1beta2.EngineList
	if err := lookup.List(ctx, g.reader, g.namespace, &list, g.of(w.Volume.Name)); err != nil {
		return err
	}
	for i := range list.Items {
		e := &list.Items[i]
		if e.Spec.VolumeName == w.Volume.Name && e.DeletionTimestamp == nil && leads(e, w.Engine) {
			w.Engine = e
		}
	}
	return nil
}

func leads(e, before *v1beta2.Engine) bool {
	if before == nil || e.Spec.Active != before.Spec.Active {
		return before == nil || e.Spec.Active
	}
	return e.Name > before.Name
}

func (g gatherer) readReplicas(ctx context.Context, w *ticket.World) error {
	var list v1beta2.ReplicaList
	if err := lookup.List(ctx, g.reader, g.namespace, &list, g.of(w.Volume.Name)); err != nil {
		return err
	}
	for i := range list.Items {
		if list.Items[i].Spec.VolumeName == w.Volume.Name && !v1beta2.IsSecondProcess(&list.Items[i]) {
			w.Replicas = append(w.Replicas, list.Items[i])
		}
	}
	return nil
}

// readShare reads the share manager of a shared volume; it has the volume's name.
func (g gatherer) readShare(ctx context.Context, w *ticket.World) (err error) {
	if w.Volume.Spec.AccessMode != v1beta2.AccessModeReadWriteMany {
		return nil
	}
	w.ShareManager, err = lookup.Get(ctx, g.reader, g.namespace, w.Volume.Name, &v1beta2.ShareManager{})
	return err
}

// readNodes reads the nodes of the objects that were read before.
func (g gatherer) readNodes(ctx context.Context, w *ticket.World) error {
	names := map[string]bool{w.Volume.Spec.NodeID: true}
	for _, r := range w.Replicas {
		names[r.Spec.NodeID] = true
	}
	if w.Attachment != nil {
		for _, t := range w.Attachment.Spec.AttachmentTickets {
			names[t.NodeID] = true
		}
	}
	if w.ShareManager != nil {
		names[w.ShareManager.Status.OwnerID] = true
	}
	w.Nodes = map[string]*v1beta2.Node{}
	for name := range names {
		node, err := lookup.Shared(ctx, g.reader, g.namespace, name, &v1beta2.Node{})
		if err != nil {
			return err
		}
		if node != nil {
			w.Nodes[name] = node
		}
	}
	return nil
}
