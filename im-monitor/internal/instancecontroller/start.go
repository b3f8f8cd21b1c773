package instancecontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/startfacts"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// facts reads what a start needs beside the object itself.
func (s *base) facts() startfacts.Reader {
	return startfacts.Reader{Cached: s.rt.Client, Uncached: s.rt.Uncached, Namespace: s.rt.Namespace}
}

// startFacts reads, from the cache, the images that an object needs which must run and does not.
func (s *base) startFacts(ctx context.Context, w *instance.World) error {
	o := w.Object
	if !o.Running || o.Ends() || w.Status.State == v1beta2.InstanceStateRunning {
		return nil
	}
	if o.DataEngine != v1beta2.DataEngineV2 && o.Kind != v1beta2.InstanceTypeEngineFrontend {
		w.EngineImage.Name = v1beta2.EngineImageName(o.Image)
		i, err := s.facts().EngineImage(ctx, o.Image)
		if err != nil {
			return err
		}
		if i != nil {
			w.EngineImage = instance.EngineImage{Name: i.Name, Found: true, CLI: i.Status.CLIAPIVersion, CLIMin: i.Status.CLIAPIMinVersion,
				Deployed: i.Status.NodeDeploymentMap[o.NodeID]}
		}
	}
	if o.Kind != v1beta2.InstanceTypeReplica || o.Replica.BackingImage == "" {
		return nil
	}
	b, err := lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, o.Replica.BackingImage, &v1beta2.BackingImage{})
	if err != nil || b == nil {
		return err
	}
	_, wanted := b.Spec.DiskFileSpecMap[o.Replica.DiskID]
	disk := b.Status.DiskFileStatusMap[o.Replica.DiskID]
	w.BackingImage = instance.BackingImage{Found: true, UUID: b.Status.UUID, Wanted: wanted, State: disk.State, Message: disk.Message,
		FirstCopy: b.Status.V2FirstCopyStatus}
	return nil
}

// wantCopy names the replica's disk in the spec of its backing image. The entry that stands there is left as it is.
func (s *base) wantCopy(ctx context.Context, w instance.World) error {
	name := w.Object.Replica.BackingImage
	b := &v1beta2.BackingImage{}
	b.Namespace, b.Name = s.rt.Namespace, name
	entry := map[string]any{"dataEngine": w.Object.DataEngine, "evictionRequested": false}
	err := status.MergeSpec(ctx, s.rt.Client, b, map[string]any{"diskFileSpecMap": map[string]any{w.Object.Replica.DiskID: entry}})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("naming disk %s in backing image %s: %w", w.Object.Replica.DiskID, name, err)
	}
	return nil
}
