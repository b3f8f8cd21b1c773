package world

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// SaveSnapshot takes a snapshot of that name of a volume that is attached with a frontend.
func (w *World) SaveSnapshot(ctx context.Context, volume, snapshot string) error {
	return w.ctl(ctx, http.MethodPost, volumePath(volume, "save"), map[string]any{"snapshot": snapshot}, nil)
}

// SaveBackup takes a backup of a volume that is attached with a frontend into the directory, and returns its URL.
func (w *World) SaveBackup(ctx context.Context, volume, backup, directory string) (string, error) {
	var saved struct{ URL string }
	body := map[string]any{"snapshot": backup, "backup": backup, "target": TargetURL(directory)}
	return saved.URL, w.ctl(ctx, http.MethodPost, volumePath(volume, "save"), body, &saved)
}

// Export requests a backing image from the volume, as Longhorn's manager does.
func (w *World) Export(ctx context.Context, name, volume string) error {
	source := &v1beta2.BackingImageDataSource{}
	source.Name, source.Namespace = name, w.Namespace
	source.Spec = v1beta2.BackingImageDataSourceSpec{SourceType: "export-from-volume", Parameters: map[string]string{"volume-name": volume}}
	if err := w.Admin.Create(ctx, source); err != nil {
		return fmt.Errorf("creating the data source %s: %w", name, err)
	}
	return nil
}

// Exported writes the status of the data source when its image is complete.
func (w *World) Exported(ctx context.Context, name string) error {
	source := &v1beta2.BackingImageDataSource{}
	source.Name, source.Namespace = name, w.Namespace
	return w.setStatus(ctx, source, map[string]any{"currentState": "ready"})
}

// Share sets the node of the volume's share manager; the first call creates it.
func (w *World) Share(ctx context.Context, volume, node string) error {
	manager := &v1beta2.ShareManager{}
	manager.Name, manager.Namespace = volume, w.Namespace
	if err := w.Admin.Create(ctx, manager); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating the share manager of %s: %w", volume, err)
	}
	return w.setStatus(ctx, manager, map[string]any{"ownerID": node, "state": "running"})
}

// Forget removes the VolumeAttachment of a volume, as in a cluster that never had one.
func (w *World) Forget(ctx context.Context, volume string) error {
	attachment := &v1beta2.VolumeAttachment{}
	attachment.Name, attachment.Namespace = volume, w.Namespace
	return w.Disown(ctx, attachment)
}

// UUIDs are the true UUIDs of the volume's running instances, by name.
func (w *World) UUIDs(ctx context.Context, volume string) (map[string]string, error) {
	list, err := w.instances(ctx)
	out := map[string]string{}
	for _, r := range list {
		if strings.HasPrefix(r.Name, volume+"-") && r.State == v1beta2.InstanceStateRunning {
			out[r.Name] = r.UUID
		}
	}
	return out, err
}

// ReplicaNodes are the nodes of the volume's replicas that are not being deleted.
func (w *World) ReplicaNodes(ctx context.Context, volume string) ([]string, error) {
	replicas, err := w.ReplicasOf(ctx, volume)
	var nodes []string
	for _, r := range replicas {
		if r.DeletionTimestamp == nil {
			nodes = append(nodes, r.Spec.NodeID)
		}
	}
	return nodes, err
}
