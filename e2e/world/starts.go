package world

import (
	"context"
	"fmt"
	"net/http"
	"path"

	"drover.dev/drover/shared/api/v1beta2"
)

// BackingImage creates a BackingImage whose copies are ready on the v1 disk of every node, with this content. Its spec names no disk.
func (w *World) BackingImage(ctx context.Context, name string, blocks map[string]string) error {
	const uuid = "eeee4444"
	b := &v1beta2.BackingImage{}
	b.Name, b.Namespace = name, w.Namespace
	if err := w.Admin.Create(ctx, b); err != nil {
		return fmt.Errorf("creating backing image %s: %w", name, err)
	}
	copies := map[string]any{}
	for _, node := range w.options.Nodes {
		n := &v1beta2.Node{}
		if err := w.Get(ctx, node, n); err != nil {
			return err
		}
		for _, disk := range n.Status.DiskStatus {
			if disk.DiskType == "block" {
				continue
			}
			copies[disk.DiskUUID] = map[string]any{"state": v1beta2.BackingImageStateReady, "dataEngine": v1beta2.DataEngineV1}
			file := path.Join("/host", disk.DiskPath, "backing-images", name+"-"+uuid, "backing")
			err := w.ctl(ctx, http.MethodPost, "/v1/backing-images",
				map[string]any{"node": node, "path": file, "size": 4096, "blocks": blocks}, nil)
			if err != nil {
				return err
			}
		}
	}
	return w.setStatus(ctx, b, map[string]any{"uuid": uuid, "diskFileStatusMap": copies})
}

// MadeWith checks the backend size, in bytes, with which the directories of a v1 volume's replicas were created.
func (w *World) MadeWith(ctx context.Context, volume string, size int64) error {
	replicas, err := w.ReplicasOf(ctx, volume)
	if err != nil {
		return err
	}
	for _, r := range replicas {
		directory := path.Join("/host", r.Spec.DiskPath, "replicas", r.Spec.DataDirectoryName)
		if err := w.ctl(ctx, http.MethodPost, "/v1/directories", map[string]any{"node": r.Spec.NodeID, "path": directory, "size": size},
			nil); err != nil {
			return err
		}
	}
	return nil
}
