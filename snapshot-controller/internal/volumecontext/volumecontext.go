// Package volumecontext reads what belongs to a volume and its snapshots, by indexes that every part of the binary shares.
package volumecontext

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/compactcache"
)

const (
	// bySource finds linked clones by the snapshot that they share, as volume/snapshot.
	bySource = "volumecontext.source"
	// byCopied finds the Backups that are under way by their snapshot.
	byCopied = "volumecontext.copied"
)

// Indexes are what Reader needs.
var Indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}),
	kube.ByVolume(&v1beta2.Replica{}),
	kube.ByVolume(&v1beta2.Snapshot{}),
	kube.Shared(kube.IndexBy(&v1beta2.Volume{}, bySource, v1beta2.SharedSnapshot)),
	kube.Shared(kube.IndexBy(&v1beta2.Backup{}, byCopied, Copied)),
}

// Reader reads from the cache. What it returns is shared with it.
type Reader struct {
	Client    client.Reader
	Namespace string
}

// Engine is the volume's active engine, nil where there is none.
func (r Reader) Engine(ctx context.Context, v *v1beta2.Volume) (active *v1beta2.Engine, err error) {
	var list v1beta2.EngineList
	if err := r.list(ctx, &list, kube.FieldVolume, v.Name); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if e := &list.Items[i]; e.Spec.Active && v1beta2.BelongsTo(e, v) {
			active = e
		}
	}
	if active != nil {
		compactcache.OpenEngine(active)
	}
	return active, nil
}

// Snapshots are those of a volume.
func (r Reader) Snapshots(ctx context.Context, volume string) ([]*v1beta2.Snapshot, error) {
	var list v1beta2.SnapshotList
	if err := r.list(ctx, &list, kube.FieldVolume, volume); err != nil {
		return nil, err
	}
	out := make([]*v1beta2.Snapshot, 0, len(list.Items))
	for i := range list.Items {
		compactcache.OpenSnapshot(&list.Items[i])
		out = append(out, &list.Items[i])
	}
	return out, nil
}

// Clones are the names of the volumes that share the data of a snapshot, in order.
func (r Reader) Clones(ctx context.Context, volume, snapshot string) ([]string, error) {
	return r.names(ctx, &v1beta2.VolumeList{}, bySource, volume+"/"+snapshot)
}

// Copied is the snapshot that a Backup copies, or may begin to; empty: none, or not now.
func Copied(b *v1beta2.Backup) string {
	if v1beta2.IsBackupBegun(b) || !v1beta2.IsBackupEnded(b) && conditions.IsTrue(b.Status.Conditions, v1beta2.BackupApproved) {
		return b.Spec.SnapshotName
	}
	return ""
}

// Copies are the names of the Backups that copy a snapshot, or may begin to, in order.
func (r Reader) Copies(ctx context.Context, snapshot string) ([]string, error) {
	return r.names(ctx, &v1beta2.BackupList{}, byCopied, snapshot)
}

// names are those of what an index finds, in order.
func (r Reader) names(ctx context.Context, list client.ObjectList, index, key string) (names []string, err error) {
	if err := r.list(ctx, list, index, key); err != nil {
		return nil, err
	}
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		names = append(names, obj.(client.Object).GetName())
		return nil
	})
	slices.Sort(names)
	return names, err
}

func (r Reader) list(ctx context.Context, list client.ObjectList, index, key string) error {
	return lookup.ListShared(ctx, r.Client, r.Namespace, list, client.MatchingFields{index: key})
}
