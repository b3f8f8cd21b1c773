// Package filledfrom finds the volume that is being filled from a backup: what it is filled from stays in its target.
package filledfrom

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// byVolume finds Volumes by the volume whose backup they are filled from.
const byVolume = "filledfrom.volume"

// Index is what a Reader needs.
var Index = kube.Shared(kube.IndexBy(&v1beta2.Volume{}, byVolume, func(v *v1beta2.Volume) string {
	_, volume := backup.InURL(v.Spec.FromBackup)
	return volume
}))

// Reader finds volumes.
type Reader struct {
	Client    client.Reader
	Namespace string
}

// Volume returns the volume that is being filled from a Backup; empty: none is.
func (r Reader) Volume(ctx context.Context, b *v1beta2.Backup) (string, error) {
	var list v1beta2.VolumeList
	if err := lookup.ListShared(ctx, r.Client, r.Namespace, &list, client.MatchingFields{byVolume: b.Status.VolumeName}); err != nil {
		return "", err
	}
	surroundings := volumecontext.Reader{Client: r.Client, Namespace: r.Namespace}
	for i := range list.Items {
		v := &list.Items[i]
		engine, err := surroundings.Engine(ctx, v)
		if err != nil {
			return "", err
		}
		if backup.IsFilledFrom(b, v, engine) {
			return v.Name, nil
		}
	}
	return "", nil
}
