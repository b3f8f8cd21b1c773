package machinecontroller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/settingcontroller"
)

// watches maps the events of other objects to their volumes.
type watches struct {
	reader    client.Reader
	namespace string
}

func (w watches) add(b *builder.Builder) *builder.Builder {
	of := func(volume func(client.Object) string) handler.EventHandler {
		return w.to(func(_ context.Context, obj client.Object) []string { return keys(volume(obj)) })
	}
	return b.
		Watches(&v1beta2.Engine{}, w.to(w.ofEngine), builder.WithPredicates(changed(engineFacts))).
		Watches(&v1beta2.EngineFrontend{}, of(func(obj client.Object) string { return obj.(*v1beta2.EngineFrontend).Spec.VolumeName }),
			builder.WithPredicates(changed(frontendFacts))).
		Watches(&v1beta2.Replica{}, of(func(obj client.Object) string { return obj.(*v1beta2.Replica).Spec.VolumeName }),
			builder.WithPredicates(changed(replicaFacts))).
		Watches(&v1beta2.Snapshot{}, of(func(obj client.Object) string { return obj.(*v1beta2.Snapshot).Spec.Volume }),
			builder.WithPredicates(changed(existence))).
		Watches(&v1beta2.Snapshot{}, w.to(func(ctx context.Context, obj client.Object) []string {
			return w.clonesOf(ctx, obj.(*v1beta2.Snapshot).Spec.Volume)
		}), builder.WithPredicates(changed(snapshotFacts))).
		Watches(&v1beta2.Engine{}, w.to(func(ctx context.Context, obj client.Object) []string {
			return w.clonesOf(ctx, obj.(*v1beta2.Engine).Spec.VolumeName)
		}), builder.WithPredicates(changed(snapshotsOf))).
		Watches(&v1beta2.Volume{}, w.to(func(ctx context.Context, obj client.Object) []string { return w.clonesOf(ctx, obj.GetName()) }),
			builder.WithPredicates(changed(existence))).
		Watches(&v1beta2.VolumeAttachment{}, of(func(obj client.Object) string { return obj.GetName() }),
			builder.WithPredicates(changed(existence))).
		Watches(&v1beta2.BackupVolume{}, w.to(w.ofBackupVolume), builder.WithPredicates(changed(backupVolumeFacts))).
		Watches(&v1beta2.Node{}, w.to(func(ctx context.Context, obj client.Object) []string { return w.onNode(ctx, obj.GetName()) }),
			builder.WithPredicates(changed(nodeFacts))).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, upgrade.Enqueue(w.namespace, w.onNode)).
		Watches(&v1beta2.Setting{}, w.to(w.all), builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known)))
}

func (w watches) to(find func(context.Context, client.Object) []string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		seen := map[string]bool{}
		var requests []reconcile.Request
		for _, name := range find(ctx, obj) {
			if name != "" && !seen[name] {
				seen[name] = true
				requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}})
			}
		}
		return requests
	})
}

// ofEngine are the engine's volume, and its clones.
func (w watches) ofEngine(ctx context.Context, obj client.Object) []string {
	name := obj.(*v1beta2.Engine).Spec.VolumeName
	return append([]string{name}, w.clonesOf(ctx, name)...)
}

// clonesOf are the volumes that are copied from a volume.
func (w watches) clonesOf(ctx context.Context, volume string) []string {
	var clones v1beta2.VolumeList
	w.list(ctx, &clones, bySource, volume)
	var out []string
	for i := range clones.Items {
		out = append(out, clones.Items[i].Name)
	}
	return out
}

// ofBackupVolume are the volumes that are filled from its backups.
func (w watches) ofBackupVolume(ctx context.Context, obj client.Object) []string {
	var volumes v1beta2.VolumeList
	w.list(ctx, &volumes, byBackupVolume, nameInTarget(obj.(*v1beta2.BackupVolume)))
	var out []string
	for i := range volumes.Items {
		out = append(out, volumes.Items[i].Name)
	}
	return out
}

// onNode are the volumes with anything on the node, or on the way to it.
func (w watches) onNode(ctx context.Context, node string) []string {
	var volumes v1beta2.VolumeList
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	for _, list := range []client.ObjectList{&volumes, &engines, &frontends, &replicas} {
		w.list(ctx, list, byNode, node)
	}
	var out []string
	for i := range volumes.Items {
		out = append(out, volumes.Items[i].Name)
	}
	for i := range engines.Items {
		out = append(out, engines.Items[i].Spec.VolumeName)
	}
	for i := range frontends.Items {
		out = append(out, frontends.Items[i].Spec.VolumeName)
	}
	for i := range replicas.Items {
		out = append(out, replicas.Items[i].Spec.VolumeName)
	}
	return out
}

// all is for what concerns every volume: a setting.
func (w watches) all(ctx context.Context, _ client.Object) []string {
	var list v1beta2.VolumeList
	if err := w.reader.List(ctx, &list, client.InNamespace(w.namespace), client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing volumes from the cache")
	}
	out := make([]string, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	return out
}

func (w watches) list(ctx context.Context, list client.ObjectList, index, key string) {
	if err := w.reader.List(ctx, list, client.InNamespace(w.namespace), client.MatchingFields{index: key},
		client.UnsafeDisableDeepCopy); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing from the cache")
	}
}
