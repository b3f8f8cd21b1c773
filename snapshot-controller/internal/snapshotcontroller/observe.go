package snapshotcontroller

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/compactcache"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// observer reads worlds. It only reads.
type observer struct {
	reader    client.Reader
	uncached  client.Reader
	namespace string
	settings  *settingcontroller.Source[setting.Values]
	clock     clock.PassiveClock
}

// observe reads the world of a snapshot; nil: it does not exist. With live the volume is read uncached. What the cache
// has is shared with it, since the core changes nothing.
func (o observer) observe(ctx context.Context, name string, live bool) (*snapshot.World, setting.Values, error) {
	s, err := lookup.Shared(ctx, o.reader, o.namespace, name, &v1beta2.Snapshot{})
	if s == nil || err != nil {
		return nil, setting.Values{}, err
	}
	compactcache.OpenSnapshot(s)
	w := &snapshot.World{Now: o.clock.Now(), Snapshot: s}
	volumes := o.reader
	if live {
		volumes = o.uncached
	}
	if w.Volume, err = lookup.Shared(ctx, volumes, o.namespace, s.Spec.Volume, &v1beta2.Volume{}); err != nil {
		return nil, setting.Values{}, err
	}
	if w.Attachment, err = lookup.Shared(ctx, o.reader, o.namespace, s.Spec.Volume, &v1beta2.VolumeAttachment{}); err != nil {
		return nil, setting.Values{}, err
	}
	if w.Volume == nil {
		return w, setting.Values{}, nil
	}
	values, err := o.readVolume(ctx, w)
	return w, values, err
}

// readVolume reads the objects of the volume: of a snapshot that nothing is under way with, only what its engine reports.
func (o observer) readVolume(ctx context.Context, w *snapshot.World) (values setting.Values, err error) {
	if w.Engine, err = o.volumeContext().Engine(ctx, w.Volume); err != nil {
		return values, err
	}
	if err = o.readAbove(ctx, w); err != nil || !busy(w.Snapshot) {
		return values, err
	}
	if values, err = o.settings.Current(ctx, w.Volume.Spec.DataEngine); err != nil {
		return values, err
	}
	w.Settings = snapshot.Settings{PurgeDisabled: values.PurgeDisabled, MaxCount: values.SnapshotMaxCount}
	for _, read := range []func(context.Context, *snapshot.World) error{o.readCandidate, o.readNodes, o.readTaken, o.readSharers} {
		if err := read(ctx, w); err != nil {
			return values, fmt.Errorf("reading the world of snapshot %s: %w", w.Snapshot.Name, err)
		}
	}
	return values, nil
}

// volumeContext reads what belongs to the volume: engine, replicas, nodes, who else needs its snapshots.
func (o observer) volumeContext() volumecontext.Reader {
	return volumecontext.Reader{Client: o.reader, Namespace: o.namespace}
}

// readCandidate finds the node to attach the volume to.
func (o observer) readCandidate(ctx context.Context, w *snapshot.World) (err error) {
	held := ""
	if w.Attachment != nil {
		held = w.Attachment.Spec.AttachmentTickets[snapshot.TicketID(w.Snapshot.Name)].NodeID
	}
	w.Candidate, err = o.volumeContext().Candidate(ctx, w.Volume, held)
	return err
}

// readNodes reads the nodes whose upgrade delays a removal. A v2 removal merges data in each replica, and an upgrade takes v2 replicas
// out of their engine. An upgrade never touches v1 replicas.
func (o observer) readNodes(ctx context.Context, w *snapshot.World) (err error) {
	if w.Engine == nil {
		return nil
	}
	if w.Volume.Spec.DataEngine == v1beta2.DataEngineV2 {
		w.Nodes, err = o.volumeContext().Nodes(ctx, w.Volume, w.Engine)
		return err
	}
	node, err := lookup.Get(ctx, o.reader, o.namespace, w.Engine.Spec.NodeID, &v1beta2.Node{})
	if node != nil {
		w.Nodes = []*v1beta2.Node{node}
	}
	return err
}

func (o observer) readTaken(ctx context.Context, w *snapshot.World) error {
	if !w.Snapshot.Spec.CreateSnapshot || w.Snapshot.DeletionTimestamp != nil {
		return nil
	}
	var list v1beta2.SnapshotList
	err := o.list(ctx, &list, kube.FieldVolume, w.Volume.Name)
	for i := range list.Items {
		if s := &list.Items[i]; s.Status.CreationTime != "" && !s.Status.MarkRemoved && !isLeaving(s) {
			w.Taken++
		}
	}
	return err
}

// isLeaving reports whether the removal of the snapshot is approved.
func isLeaving(s *v1beta2.Snapshot) bool {
	return s.DeletionTimestamp != nil && conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotRemovalApproved)
}

// readAbove finds the volume's Snapshots that build on this one.
func (o observer) readAbove(ctx context.Context, w *snapshot.World) error {
	if w.Snapshot.DeletionTimestamp == nil {
		return o.readListedAbove(ctx, w)
	}
	var list v1beta2.SnapshotList
	err := o.list(ctx, &list, kube.FieldVolume, w.Volume.Name)
	for i := range list.Items {
		if s := &list.Items[i]; s.Status.Parent == w.Snapshot.Name {
			w.Above = append(w.Above, s.Name)
		}
	}
	return err
}

// readListedAbove finds which of the children that the engine lists have Snapshots, where the stored children have the volume's head.
func (o observer) readListedAbove(ctx context.Context, w *snapshot.World) error {
	if !w.Snapshot.Status.Children[v1beta2.VolumeHead] {
		return nil
	}
	for name := range w.ListedChildren() {
		if name == v1beta2.VolumeHead {
			continue
		}
		s, err := lookup.Shared(ctx, o.reader, o.namespace, name, &v1beta2.Snapshot{})
		if err != nil {
			return err
		}
		if s != nil && s.Spec.Volume == w.Volume.Name {
			w.Above = append(w.Above, name)
		}
	}
	return nil
}

// readSharers finds who else needs the data.
func (o observer) readSharers(ctx context.Context, w *snapshot.World) (err error) {
	if w.Snapshot.DeletionTimestamp == nil {
		return nil
	}
	if w.Clones, err = o.volumeContext().Clones(ctx, w.Volume.Name, w.Snapshot.Name); err != nil {
		return err
	}
	w.Backups, err = o.volumeContext().Copies(ctx, w.Snapshot.Name)
	return err
}

// list returns the cache's own objects, too.
func (o observer) list(ctx context.Context, list client.ObjectList, index, key string) error {
	return lookup.ListShared(ctx, o.reader, o.namespace, list, client.MatchingFields{index: key})
}
