package attachcontroller

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// observer reads. It never writes.
type observer struct {
	reader    client.Reader
	namespace string
	clock     clock.PassiveClock
}

// objects are the two that a pass writes to; nil: it does not exist.
type objects struct {
	volume     *v1beta2.Volume
	attachment *v1beta2.VolumeAttachment
}

func (o observer) objects(ctx context.Context, name string) (objects, error) {
	volume, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.Volume{})
	if err != nil {
		return objects{}, err
	}
	attachment, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.VolumeAttachment{})
	return objects{volume, attachment}, err
}

// world reads the core's input beside the two objects: of most volumes only nodes.
func (o observer) world(ctx context.Context, of objects) (attach.World, error) {
	w := attach.World{Now: o.clock.Now()}
	if of.volume != nil {
		volume := attach.VolumeOf(of.volume)
		w.Volume = &volume
	}
	if of.attachment != nil {
		w.Attachment = attach.AttachmentOf(of.attachment)
	}
	if w.Volume == nil {
		return w, nil
	}
	if err := o.nodes(ctx, &w); err != nil {
		return w, err
	}
	if w.Volume.Migrating() {
		if err := o.engines(ctx, &w); err != nil {
			return w, err
		}
	}
	if w.Volume.StrictLocal {
		return w, o.replicas(ctx, &w)
	}
	return w, nil
}

func (o observer) nodes(ctx context.Context, w *attach.World) error {
	names := []string{w.Volume.NodeID, w.Volume.MigrationNodeID}
	if w.Attachment != nil {
		for _, t := range w.Attachment.Tickets {
			names = append(names, t.NodeID)
		}
	}
	w.Nodes = map[string]attach.Node{}
	for _, name := range distinct(names...) {
		node, err := lookup.Shared(ctx, o.reader, o.namespace, name, &v1beta2.Node{})
		if err != nil {
			return err
		}
		if node != nil {
			w.Nodes[name] = attach.NodeOf(node)
		}
	}
	return nil
}

func (o observer) engines(ctx context.Context, w *attach.World) error {
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	if err := o.list(ctx, &engines, w.Volume.Name); err != nil {
		return err
	}
	if err := o.list(ctx, &frontends, w.Volume.Name); err != nil {
		return err
	}
	for i := range engines.Items {
		w.Engines = append(w.Engines, attach.EngineOf(&engines.Items[i]))
	}
	for i := range frontends.Items {
		w.Frontends = append(w.Frontends, attach.FrontendOf(&frontends.Items[i]))
	}
	return nil
}

func (o observer) replicas(ctx context.Context, w *attach.World) error {
	var list v1beta2.ReplicaList
	if err := o.list(ctx, &list, w.Volume.Name); err != nil {
		return err
	}
	w.ReplicaNodes = attach.ReplicaNodesOf(list.Items)
	return nil
}

func (o observer) list(ctx context.Context, list client.ObjectList, volume string) error {
	return lookup.List(ctx, o.reader, o.namespace, list, client.MatchingFields{kube.FieldVolume: volume})
}
