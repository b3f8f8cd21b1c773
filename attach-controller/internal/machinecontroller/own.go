package machinecontroller

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	read := func(object metav1.Object) {
		if e, ok := object.(*v1beta2.Engine); ok && e.DeletionTimestamp != nil && err == nil {
			w.Listed[e.Name], err = o.instances.Listed(ctx, abandoned.Engines, e.Name)
		}
	}
	for _, e := range w.Engines {
		read(e)
	}
	for _, s := range w.Previous {
		read(s)
	}
	return err
}

// lists reads engines, frontends and replicas by an index of the cache, or a field that the API server selects by.
func (o observer) lists(ctx context.Context, w *machine.World, index string) error {
	all, err := o.ofVolume(ctx, w.Volume.Name, index)
	if err != nil {
		return err
	}
	w.Previous = nil
	w.Engines, w.Frontends, w.Replicas = own(w, all.engines.Items), own(w, all.frontends.Items), own(w, all.replicas.Items)
	return nil
}

// objects are what refers to a volume by its name.
type objects struct {
	engines   v1beta2.EngineList
	frontends v1beta2.EngineFrontendList
	replicas  v1beta2.ReplicaList
}

func (o observer) ofVolume(ctx context.Context, name, index string) (all objects, err error) {
	for _, list := range []client.ObjectList{&all.engines, &all.frontends, &all.replicas} {
		if err := o.list(ctx, list, index, name); err != nil {
			return objects{}, err
		}
	}
	return all, nil
}

// own are the objects of a list that belong to the volume, by their names; the others are recorded as objects of a previous volume.
func own[T any, P interface {
	client.Object
	*T
}](w *machine.World, list []T) []P {
	var out []P
	for i := range list {
		if object := P(&list[i]); v1beta2.BelongsTo(object, w.Volume) {
			out = append(out, object)
		} else {
			w.Previous = append(w.Previous, object)
		}
	}
	slices.SortFunc(out, func(a, b P) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out
}
