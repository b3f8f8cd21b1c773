package engineimagecontroller

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engineimage"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// references counts the objects in the caches that name the image. Volumes are not cached here: each volume counts that an Engine or a
// Replica of the image belongs to, and those that were found when all of them were read last. After a count the number rests for a moment.
func (s *reconciler) references(ctx context.Context, w engineimage.World) (engineimage.References, error) {
	if rest := s.memory.counts.Left(w.Name, w.Now); rest > 0 && w.Image.Status.RefCount > 0 && !w.Outdated() &&
		w.Image.DeletionTimestamp == nil {
		return engineimage.References{Count: w.Image.Status.RefCount, Rest: rest}, nil
	}
	began := s.rt.Clock.Now()
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	image := client.MatchingFields{byImage: w.Image.Spec.Image}
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &engines, image); err != nil {
		return engineimage.References{}, err
	}
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &replicas, image); err != nil {
		return engineimage.References{}, err
	}
	volumes := map[string]bool{}
	for i := range engines.Items {
		volumes[engines.Items[i].Spec.VolumeName] = true
	}
	for i := range replicas.Items {
		volumes[replicas.Items[i].Spec.VolumeName] = true
	}
	named := max(len(volumes), s.memory.volumesOf(w.Name, w.Now))
	out := engineimage.References{Count: len(engines.Items) + len(replicas.Items) + named}
	if w.Outdated() {
		out.Runs = runsAny(engines.Items, replicas.Items)
	}
	s.memory.counts.Done(w.Name, s.rt.Clock.Since(began), s.rt.Clock.Now())
	return out, nil
}

// runsAny reports whether one of them runs, or is to run.
func runsAny(engines []v1beta2.Engine, replicas []v1beta2.Replica) bool {
	return slices.ContainsFunc(engines, func(e v1beta2.Engine) bool { return v1beta2.MayRun(e.Spec.DesireState, e.Status.CurrentState) }) ||
		slices.ContainsFunc(replicas, func(r v1beta2.Replica) bool { return v1beta2.MayRun(r.Spec.DesireState, r.Status.CurrentState) })
}

// recount reads everything that may name the image from the API server, right before the image goes.
func (s *reconciler) recount(ctx context.Context, w *engineimage.World) error {
	image, out := w.Image.Spec.Image, engineimage.References{Fresh: true}
	names := func(dataEngine string, images ...string) bool {
		return slices.Contains(imagesOf(dataEngine, images...), image)
	}
	var volumes v1beta2.VolumeList
	if err := lookup.List(ctx, s.rt.Uncached, s.rt.Namespace, &volumes); err != nil {
		return err
	}
	for i := range volumes.Items {
		if v := &volumes.Items[i]; names(v.Spec.DataEngine, v.Spec.Image, v.Status.CurrentImage) {
			out.Count++
		}
	}
	s.memory.foundVolumes(w.Name, out.Count, w.Now)
	var engines v1beta2.EngineList
	if err := lookup.List(ctx, s.rt.Uncached, s.rt.Namespace, &engines); err != nil {
		return err
	}
	for i := range engines.Items {
		if slices.Contains(imagesOfEngine(&engines.Items[i]), image) {
			out.Count++
		}
	}
	var replicas v1beta2.ReplicaList
	if err := lookup.List(ctx, s.rt.Uncached, s.rt.Namespace, &replicas); err != nil {
		return err
	}
	for i := range replicas.Items {
		if slices.Contains(imagesOfReplica(&replicas.Items[i]), image) {
			out.Count++
		}
	}
	w.References = out
	return nil
}
