package diskcontroller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/disk-controller/internal/disk"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
	"drover.dev/drover/shared/lookup"
)

// observe reads the world of the node, but for the disks of other nodes.
func (r *reconciler) observe(ctx context.Context, n *v1beta2.Node) (disk.World, error) {
	values, err := r.settings.Current(ctx, v1beta2.DataEngineV1)
	if err != nil {
		return disk.World{}, err
	}
	w := disk.World{Now: r.rt.Clock.Now(), Node: n.Name, Specs: n.Spec.Disks, Status: n.Status.DiskStatus,
		Pressure: diskspace.Limits{MinimalAvailable: int64(values.MinimalAvailable), OverProvisioning: int64(values.OverProvisioning)}}
	if c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); c != nil && c.Status == v1beta2.ConditionFalse {
		w.NodeNotReady = cmp.Or(c.Message, c.Reason)
	}
	if err := r.observeContent(ctx, &w); err != nil {
		return disk.World{}, err
	}
	r.lookAtAll(&w)
	return w, nil
}

// observeContent reads the replicas and backing images that take room on the disks.
func (r *reconciler) observeContent(ctx context.Context, w *disk.World) error {
	var replicas v1beta2.ReplicaList
	if err := lookup.ListShared(ctx, r.rt.Client, r.rt.Namespace, &replicas); err != nil {
		return err
	}
	for i := range replicas.Items {
		spec := &replicas.Items[i].Spec
		w.Replicas = append(w.Replicas, disk.Replica{Name: replicas.Items[i].Name, DiskID: spec.DiskID, Bytes: spec.VolumeSize})
	}
	var images v1beta2.BackingImageList
	if err := lookup.ListShared(ctx, r.rt.Client, r.rt.Namespace, &images); err != nil {
		return err
	}
	for i := range images.Items {
		image := &images.Items[i]
		w.Images = append(w.Images, disk.Image{Name: image.Name, Disks: slices.Sorted(maps.Keys(image.Spec.DiskFileSpecMap)),
			Bytes: image.Status.RealSize})
	}
	return nil
}

// lookAtAll looks at the directories of all v1 disks of the spec.
func (r *reconciler) lookAtAll(w *disk.World) {
	w.Sights = map[string]disk.Sight{}
	for _, key := range slices.Sorted(maps.Keys(w.Specs)) {
		if spec := w.Specs[key]; spec.DiskType != v1beta2.DiskTypeBlock {
			w.Sights[key] = r.looker.Look(spec.Path)
		}
	}
}

// readElsewhere reads the UUIDs of the disks of all other nodes from the API server.
func (r *reconciler) readElsewhere(ctx context.Context, w *disk.World) error {
	var nodes v1beta2.NodeList
	if err := lookup.List(ctx, r.rt.Uncached, r.rt.Namespace, &nodes); err != nil {
		return err
	}
	w.Elsewhere = map[string]string{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Name == w.Node {
			continue
		}
		for key, s := range n.Status.DiskStatus {
			if s.DiskUUID != "" {
				w.Elsewhere[s.DiskUUID] = fmt.Sprintf("disk %s of node %s", key, n.Name)
			}
		}
	}
	return nil
}
