package csisnapshotcontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
	"drover.dev/drover/snapshot-controller/internal/volumesnapshot"
)

// The indexes. Each maps an event to the contents that it is about.
const (
	byVolume   = "csisnapshotcontroller.volume"
	bySnapshot = "csisnapshotcontroller.snapshot"
	byBackup   = "csisnapshotcontroller.backup"
	byClass    = "csisnapshotcontroller.class"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	content := func(key func(csisnapshot.Content) string) client.IndexerFunc {
		return func(obj client.Object) []string {
			c := csisnapshot.FromContent(obj.(*volumesnapshot.Content))
			if !c.Ours() {
				return nil
			}
			return keys(key(c))
		}
	}
	for _, i := range []struct {
		of   client.Object
		name string
		keys client.IndexerFunc
	}{
		{&volumesnapshot.Content{}, byVolume, content(func(c csisnapshot.Content) string { volume, _, _ := c.Names(); return volume })},
		{&volumesnapshot.Content{}, bySnapshot, content(func(c csisnapshot.Content) string { _, name, _ := c.Names(); return name })},
		{&volumesnapshot.Content{}, byBackup, content(func(c csisnapshot.Content) string { _, _, name := c.Names(); return name })},
		{&volumesnapshot.Content{}, byClass, content(func(c csisnapshot.Content) string { return c.ClassName })},
	} {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func keys(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}
