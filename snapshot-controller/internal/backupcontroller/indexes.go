package backupcontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// The indexes. All but one hold only what is not ended: what ended changes no more.
const (
	// byEnded finds the Backups that ended by the label of the volume that they were begun with.
	byEnded = "backupcontroller.ended"
	// byVolume finds Backups by the label of their volume.
	byVolume = "backupcontroller.volume"
	// bySnapshot finds Backups by their snapshot.
	bySnapshot = "backupcontroller.snapshot"
	// byOpen is the one key of Backups that are not ended.
	byOpen = "backupcontroller.open"
)

// yes is the key of an index that has one.
const yes = "yes"

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	backup := func(key func(*v1beta2.Backup) string) client.IndexerFunc {
		return func(obj client.Object) []string {
			if b := obj.(*v1beta2.Backup); isOpen(b) {
				return keys(key(b))
			}
			return nil
		}
	}
	for _, i := range []struct {
		of   client.Object
		name string
		keys client.IndexerFunc
	}{
		{&v1beta2.Backup{}, byEnded, endedOf},
		{&v1beta2.Backup{}, byVolume, backup(func(b *v1beta2.Backup) string { return b.Labels[v1beta2.LabelBackupVolume] })},
		{&v1beta2.Backup{}, bySnapshot, backup(func(b *v1beta2.Backup) string { return b.Spec.SnapshotName })},
		{&v1beta2.Backup{}, byOpen, backup(func(*v1beta2.Backup) string { return yes })},
	} {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func endedOf(obj client.Object) []string {
	if b := obj.(*v1beta2.Backup); v1beta2.IsBackupEnded(b) && b.Status.VolumeName != "" {
		return keys(v1beta2.LabelValue(b.Status.VolumeName))
	}
	return nil
}

func isOpen(b *v1beta2.Backup) bool {
	return b.Spec.SnapshotName != "" && !v1beta2.IsBackupEnded(b)
}

func keys(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}
