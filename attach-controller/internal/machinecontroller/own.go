package machinecontroller

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

func (o observer) snapshots(ctx context.Context, w *machine.World, index string) error {
	var list v1beta2.SnapshotList
	if err := o.list(ctx, &list, index, w.Volume.Name); err != nil {
		return err
	}
	w.Snapshots, w.FirstSnapshot = 0, ""
	for i := range list.Items {
		if s := &list.Items[i]; v1beta2.BelongsTo(s, w.Volume) {
			w.Snapshots++
			if w.FirstSnapshot == "" || s.Name < w.FirstSnapshot {
				w.FirstSnapshot = s.Name
			}
		}
	}
	return nil
}

// left reads uncached the objects of a volume whose finalizer is about to be dropped: no later pass would clean them up.
func (o observer) left(ctx context.Context, w *machine.World) error {
	if err := past(o).lists(ctx, w, "spec.volumeName"); err != nil {
		return err
	}
	if err := past(o).snapshots(ctx, w, "spec.volume"); err != nil {
		return err
	}
	if err := o.listed(ctx, w); err != nil {
		return err
	}
	return o.nodes(ctx, w)
}

func (o observer) belongings(ctx context.Context, w *machine.World) error {
	if err := o.lists(ctx, w, kube.FieldVolume); err != nil {
		return err
	}
	attachment := &v1beta2.VolumeAttachment{}
	found, err := o.get(ctx, w.Volume.Name, attachment)
	if found {
		w.Attachment = attachment
	}
	if err != nil {
		return err
	}
	return o.listed(ctx, w)
}

// listed finds what instance managers list under the names of engines that are being deleted.
func (o observer) listed(ctx context.Context, w *machine.World) (err error) {
	w.Listed = map[string][]abandoned.Listing{}
	for _, e := range slices.Concat(w.Engines, w.Previous.Engines) {
		if e.DeletionTimestamp == nil {
			continue
		}
		if w.Listed[e.Name], err = o.instances.Listed(ctx, abandoned.Engines, e.Name); err != nil {
			return err
		}
	}
	return nil
}

// lists reads engines, frontends and replicas by an index of the cache, or a field that the API server selects by: those that belong to
// the volume, and those of a previous one.
func (o observer) lists(ctx context.Context, w *machine.World, index string) error {
	all, err := o.ofVolume(ctx, w.Volume.Name, index)
	if err != nil {
		return err
	}
	w.Engines, w.Previous.Engines = own(w.Volume, all.Engines)
	w.Frontends, w.Previous.Frontends = own(w.Volume, all.Frontends)
	w.Replicas, w.Previous.Replicas = own(w.Volume, all.Replicas)
	return nil
}

// ofVolume reads what refers to a volume by its name.
func (o observer) ofVolume(ctx context.Context, name, index string) (machine.Objects, error) {
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	for _, list := range []client.ObjectList{&engines, &frontends, &replicas} {
		if err := o.list(ctx, list, index, name); err != nil {
			return machine.Objects{}, err
		}
	}
	return machine.Objects{Engines: byName(engines.Items), Frontends: byName(frontends.Items), Replicas: byName(replicas.Items)}, nil
}

// byName are the objects of a list in order of their names.
func byName[T any, P interface {
	client.Object
	*T
}](list []T) (out []P) {
	for i := range list {
		out = append(out, &list[i])
	}
	slices.SortFunc(out, func(a, b P) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out
}

// own divides objects into those that belong to the volume and those of a previous one.
func own[T client.Object](v *v1beta2.Volume, all []T) (own, previous []T) {
	for _, object := range all {
		if v1beta2.BelongsTo(object, v) {
			own = append(own, object)
		} else {
			previous = append(previous, object)
		}
	}
	return own, previous
}
