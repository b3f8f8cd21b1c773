package machinecontroller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
)

type observer struct {
	reader client.Reader
	// uncached reads from the API server.
	uncached  client.Reader
	namespace string
	settings  *settingcontroller.Source[setting.Values]
	upgrades  upgrade.Reader
	instances abandonedcontroller.Reader
	clock     clock.PassiveClock
}

// observe fills the machine's World of one volume; nil: there is no such volume.
func (o observer) observe(ctx context.Context, name string) (*machine.World, error) {
	v := &v1beta2.Volume{}
	if found, err := o.get(ctx, name, v); err != nil || !found {
		return nil, err
	}
	w := &machine.World{Now: o.clock.Now(), Volume: v, Nodes: map[string]machine.Node{}}
	if err := o.belongings(ctx, w); err != nil {
		return nil, err
	}
	if err := o.nodes(ctx, w); err != nil {
		return nil, err
	}
	if err := o.upgrading(ctx, w); err != nil {
		return nil, err
	}
	if v.DeletionTimestamp != nil {
		if err := o.snapshots(ctx, w, kube.FieldVolume); err != nil {
			return nil, err
		}
	}
	if err := o.source(ctx, w); err != nil {
		return nil, err
	}
	if err := o.backupVolume(ctx, w); err != nil {
		return nil, err
	}
	values, err := o.settings.Current(ctx, v.Spec.DataEngine)
	if err != nil {
		return nil, err
	}
	w.Settings = machine.Settings{AutoSalvage: values.AutoSalvage, DefaultEngineImage: values.DefaultEngineImage,
		DefaultReplicas: values.DefaultReplicaCount, SnapshotMaxCount: values.SnapshotMaxCount,
		RemoveSnapshotsOnTrim: values.RemoveSnapshotsOnTrim, DisableRevisionCounter: values.DisableRevisionCounter}
	return w, nil
}

// refresh does the uncached reads of a verdict: engines and replicas, the frontends, the volume, the nodes. The cache may show an engine on
// its former node only: a node that was not read would count as down, and its upgrade would not count.
func (o observer) refresh(ctx context.Context, w *machine.World, wants machine.Reads) (err error) {
	if wants.FreshVolume {
		fresh := &v1beta2.Volume{}
		if err := lookup.Confirm(ctx, o.uncached, w.Volume, fresh); err != nil {
			return err
		}
		w.Volume = fresh
	}
	if wants.FreshAttachment {
		if w.Attachment, err = lookup.Get(ctx, o.uncached, o.namespace, w.Volume.Name, &v1beta2.VolumeAttachment{}); err != nil {
			return err
		}
	}
	if wants.FreshFrontends {
		if err := o.refreshFrontends(ctx, w); err != nil {
			return err
		}
	}
	if w.Engines, err = again(ctx, past(o), w.Engines, func() *v1beta2.Engine { return &v1beta2.Engine{} }); err != nil {
		return err
	}
	if w.Replicas, err = again(ctx, past(o), w.Replicas, func() *v1beta2.Replica { return &v1beta2.Replica{} }); err != nil {
		return err
	}
	nodes := o
	if wants.FreshNodes {
		w.Nodes, nodes = map[string]machine.Node{}, past(o)
	}
	if err := nodes.nodes(ctx, w); err != nil {
		return err
	}
	if err := o.upgrading(ctx, w); err != nil {
		return err
	}
	return o.listed(ctx, w)
}

func (o observer) refreshFrontends(ctx context.Context, w *machine.World) error {
	var list v1beta2.EngineFrontendList
	err := o.uncached.List(ctx, &list, client.InNamespace(o.namespace),
		client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(w.Volume.Name)})
	if err != nil {
		return fmt.Errorf("listing the frontends of %s: %w", w.Volume.Name, err)
	}
	w.Frontends = nil
	for i := range list.Items {
		if list.Items[i].Spec.VolumeName == w.Volume.Name && v1beta2.BelongsTo(&list.Items[i], w.Volume) {
			w.Frontends = append(w.Frontends, &list.Items[i])
		}
	}
	slices.SortFunc(w.Frontends, func(a, b *v1beta2.EngineFrontend) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// again reads the objects of a list; deleted ones are left out.
func again[T client.Object](ctx context.Context, o observer, seen []T, empty func() T) ([]T, error) {
	var out []T
	for _, object := range seen {
		fresh := empty()
		found, err := o.get(ctx, object.GetName(), fresh)
		if err != nil {
			return nil, err
		}
		if found && fresh.GetUID() == object.GetUID() {
			out = append(out, fresh)
		}
	}
	return out, nil
}

// past is the observer with uncached reads.
func past(o observer) observer {
	o.reader = o.uncached
	return o
}

// nodes reads the nodes of the volume and its objects.
func (o observer) nodes(ctx context.Context, w *machine.World) error {
	for _, name := range w.NodeNames() {
		if _, read := w.Nodes[name]; read || name == "" {
			continue
		}
		n, err := lookup.Shared(ctx, o.reader, o.namespace, name, &v1beta2.Node{})
		switch {
		case err != nil:
			return err
		case n == nil:
			w.Nodes[name] = machine.Node{Down: true}
		default:
			w.Nodes[name] = nodeOf(n)
		}
	}
	return nil
}

// upgrading finds the live upgrades that list the volume, or are of a node of its objects.
func (o observer) upgrading(ctx context.Context, w *machine.World) error {
	w.Upgrades = nil
	if w.Volume.Spec.DataEngine != v1beta2.DataEngineV2 {
		return nil
	}
	list, err := o.upgrades.UnderWay(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		u := &list[i]
		entry, listed := u.Status.Volumes[w.Volume.Name]
		if _, here := w.Nodes[u.Spec.NodeID]; here || listed {
			w.Upgrades = append(w.Upgrades, machine.Upgrade{Node: u.Spec.NodeID, State: u.Status.State, Image: u.Spec.InstanceManagerImage,
				Listed: listed, Replica: entry.Replica, Original: entry.OriginalNodeID})
		}
	}
	return nil
}

// source finds the source of a clone: a volume, its running engine, and the snapshot that was created for the copy.
func (o observer) source(ctx context.Context, w *machine.World) error {
	name := sourceOf(w.Volume)
	if snapshot := machine.CopiedSnapshot(w.Volume); snapshot != "" && (name != "" || machine.CloneSnapshot(w.Volume) != "") {
		s := &v1beta2.Snapshot{}
		found, err := o.get(ctx, snapshot, s)
		if err != nil {
			return err
		}
		if found {
			w.SourceSnapshot = s
		}
	}
	if name == "" {
		return nil
	}
	v := &v1beta2.Volume{}
	found, err := o.get(ctx, name, v)
	if err != nil {
		return err
	}
	if found {
		w.SourceVolume = v
	}
	var engines v1beta2.EngineList
	if err := o.list(ctx, &engines, kube.FieldVolume, name); err != nil {
		return err
	}
	for i := range engines.Items {
		if e := &engines.Items[i]; e.Spec.Active && e.Status.CurrentState == v1beta2.InstanceStateRunning {
			w.Source = e
		}
	}
	return nil
}

// sourceOf is the volume from which another one is cloned; empty if it is no clone, or complete.
func sourceOf(v *v1beta2.Volume) string {
	if v.Status.CloneStatus.State == v1beta2.CloneCompleted || v.Status.CloneStatus.State == v1beta2.CloneFailed {
		return ""
	}
	return machine.SourceOf(v.Spec.DataSource)
}

func (o observer) get(ctx context.Context, name string, into client.Object) (bool, error) {
	found, err := lookup.Get(ctx, o.reader, o.namespace, name, into)
	return found != nil, err
}

func (o observer) list(ctx context.Context, list client.ObjectList, index, key string) error {
	return lookup.ListShared(ctx, o.reader, o.namespace, list, client.MatchingFields{index: key})
}
