package machinecontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/settingcontroller"
)

// watches maps the events of other objects to their volumes.
type watches struct{ kube.Mapper }

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Engine{}, w.To(w.ofEngine), builder.WithPredicates(kube.OnDeepChange(engineFacts))).
		Watches(&v1beta2.EngineFrontend{}, w.To(itsVolume), builder.WithPredicates(kube.OnDeepChange(frontendFacts))).
		Watches(&v1beta2.Replica{}, w.To(itsVolume), builder.WithPredicates(kube.OnDeepChange(replicaFacts))).
		Watches(&v1beta2.Snapshot{}, w.To(itsVolume), builder.WithPredicates(kube.OnLife())).
		Watches(&v1beta2.Snapshot{}, w.To(w.ofSource), builder.WithPredicates(kube.OnDeepChange(snapshotFacts))).
		Watches(&v1beta2.Engine{}, w.To(w.ofSource), builder.WithPredicates(kube.OnDifference(listsSnapshots))).
		Watches(&v1beta2.Volume{}, w.To(func(ctx context.Context, obj client.Object) []string { return w.clonesOf(ctx, obj.GetName()) }),
			builder.WithPredicates(kube.OnLife())).
		Watches(&v1beta2.VolumeAttachment{}, w.To(func(_ context.Context, obj client.Object) []string { return []string{obj.GetName()} }),
			builder.WithPredicates(kube.OnLife())).
		Watches(&v1beta2.BackupVolume{}, w.To(w.ofBackupVolume), builder.WithPredicates(kube.OnDeepChange(backupVolumeFacts))).
		Watches(&v1beta2.Node{}, w.To(func(ctx context.Context, obj client.Object) []string { return w.onNode(ctx, obj.GetName()) }),
			builder.WithPredicates(kube.OnChange(nodeOf))).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, upgrade.Enqueue(w.Namespace, w.onNode)).
		Watches(&v1beta2.Setting{}, w.To(w.all), builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known)))
}

func itsVolume(_ context.Context, obj client.Object) []string { return []string{kube.VolumeName(obj)} }

// ofEngine are the engine's volume, and its clones.
func (w watches) ofEngine(ctx context.Context, obj client.Object) []string {
	return append(w.ofSource(ctx, obj), kube.VolumeName(obj))
}

// ofSource are the volumes that are copied from the volume of an object.
func (w watches) ofSource(ctx context.Context, obj client.Object) []string {
	return w.clonesOf(ctx, kube.VolumeName(obj))
}

// clonesOf are the volumes that are copied from a volume.
func (w watches) clonesOf(ctx context.Context, volume string) []string {
	return w.Names(ctx, &v1beta2.VolumeList{}, client.MatchingFields{bySource: volume})
}

// ofBackupVolume are the volumes that are filled from its backups.
func (w watches) ofBackupVolume(ctx context.Context, obj client.Object) []string {
	return w.Names(ctx, &v1beta2.VolumeList{}, client.MatchingFields{byBackupVolume: nameInTarget(obj.(*v1beta2.BackupVolume))})
}

// onNode are the volumes with anything on the node, or on the way to it.
func (w watches) onNode(ctx context.Context, node string) []string {
	here := client.MatchingFields{kube.FieldNode: node}
	out := w.Names(ctx, &v1beta2.VolumeList{}, here)
	for _, list := range []client.ObjectList{&v1beta2.EngineList{}, &v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{}} {
		out = append(out, w.NamesBy(ctx, kube.VolumeName, list, here)...)
	}
	return out
}

// all is for what concerns every volume: a setting.
func (w watches) all(ctx context.Context, _ client.Object) []string {
	return w.Names(ctx, &v1beta2.VolumeList{})
}
