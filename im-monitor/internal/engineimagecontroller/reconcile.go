package engineimagecontroller

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engineimage"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/mergepatch"
	"drover.dev/drover/shared/status"
)

// Reconcile reconciles one EngineImage by its name.
func (s *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w, err := s.observe(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if s.isBehind(w) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	v := engineimage.Decide(w)
	if v.Recount {
		if err := s.recount(ctx, &w); err != nil {
			return ctrl.Result{}, err
		}
		v = engineimage.Decide(w)
	}
	left, err := s.apply(ctx, w, v)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	case left > 0 && (v.After == 0 || left < v.After):
		return ctrl.Result{RequeueAfter: left}, err
	}
	return ctrl.Result{RequeueAfter: v.After}, err
}

// isBehind reports whether the caches do not show the last write of this process yet.
func (s *reconciler) isBehind(w engineimage.World) bool {
	return w.Image != nil && s.written.Stale(w.Image) || w.DaemonSet != nil && s.written.Stale(w.DaemonSet) ||
		w.VersionPod != nil && s.written.Stale(w.VersionPod)
}

// apply makes the verdict true: first the EngineImage's own marks, then the objects that belong to it, then its status, and its end last.
// It returns how long the status waits, if it does.
func (s *reconciler) apply(ctx context.Context, w engineimage.World, v engineimage.Verdict) (left time.Duration, err error) {
	switch {
	case v.Create != nil:
		return 0, s.create(ctx, v.Create)
	case w.Image == nil:
		s.memory.forget(w.Name)
		return 0, nil
	case v.Mark:
		return 0, s.mark(ctx, w.Image) // its event brings the rest
	}
	if err := s.applyDaemonSet(ctx, w, v.DaemonSet); err != nil {
		return 0, err
	}
	if err := s.applyVersionPod(ctx, w, v); err != nil {
		return 0, err
	}
	switch {
	case v.Delete:
		return 0, s.delete(ctx, w.Image)
	case v.Release:
		return 0, s.release(ctx, w.Image)
	}
	return s.applyStatus(ctx, w.Image, v.Status)
}

func (s *reconciler) create(ctx context.Context, image *v1beta2.EngineImage) error {
	if err := s.rt.Client.Create(ctx, image); err != nil {
		return fmt.Errorf("creating engine image %s: %w", image.Name, err)
	}
	s.rt.Log.Info("engine image created: it is the default image", "name", image.Name, "image", image.Spec.Image)
	return nil
}

func (s *reconciler) mark(ctx context.Context, image *v1beta2.EngineImage) error {
	labels, finalizers := engineimage.Marked(image)
	if err := status.MergeMetadata(ctx, s.rt.Client, image, map[string]any{"labels": labels, "finalizers": finalizers}); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.written.Record(image)
	return nil
}

func (s *reconciler) applyDaemonSet(ctx context.Context, w engineimage.World, action engineimage.Action) error {
	name := engineimage.DaemonSetName(w.Name)
	switch action {
	case engineimage.Create:
		if err := lookup.Confirm(ctx, s.rt.Uncached, w.Image, &v1beta2.EngineImage{}); err != nil {
			return err
		}
		if err := s.rt.Client.Create(ctx, engineimage.DaemonSetFor(w)); err != nil {
			return fmt.Errorf("creating daemon set %s: %w", name, err)
		}
		s.rt.Log.Info("daemon set created", "name", name, "image", w.Image.Spec.Image)
	case engineimage.Change:
		patch := client.StrategicMergeFrom(w.DaemonSet, client.MergeFromWithOptimisticLock{})
		if err := s.rt.Client.Patch(ctx, engineimage.Changed(w), patch); err != nil {
			return fmt.Errorf("changing daemon set %s: %w", name, err)
		}
		s.written.Record(w.DaemonSet)
		s.rt.Log.Info("daemon set changed: its pods are replaced", "name", name)
	case engineimage.Delete:
		if err := status.Delete(ctx, s.rt.Client, w.DaemonSet); err != nil {
			return err
		}
		s.written.Record(w.DaemonSet)
		s.rt.Log.Info("daemon set deleted", "name", name)
	}
	return nil
}

func (s *reconciler) applyVersionPod(ctx context.Context, w engineimage.World, v engineimage.Verdict) error {
	if v.Failed {
		s.memory.failed(w.Name, w.Now)
	}
	switch v.VersionPod {
	case engineimage.Create:
		pod := engineimage.VersionPodFor(w)
		if err := s.rt.Client.Create(ctx, pod); err != nil {
			return fmt.Errorf("creating pod %s: %w", pod.Name, err)
		}
	case engineimage.Delete:
		// A node that is gone would keep a pod with a grace period for ever; this one writes nothing.
		err := s.rt.Client.Delete(ctx, w.VersionPod, client.GracePeriodSeconds(0), client.Preconditions{UID: &w.VersionPod.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting pod %s: %w", w.VersionPod.Name, err)
		}
		s.written.Record(w.VersionPod)
	}
	return nil
}

func (s *reconciler) delete(ctx context.Context, image *v1beta2.EngineImage) error {
	if err := status.Delete(ctx, s.rt.Client, image); err != nil {
		return err
	}
	s.written.Record(image)
	s.rt.Log.Info("engine image deleted: nothing has referred to it for an hour", "name", image.Name, "image", image.Spec.Image)
	return nil
}

func (s *reconciler) release(ctx context.Context, image *v1beta2.EngineImage) error {
	if err := status.DropFinalizer(ctx, s.rt.Client, image, v1beta2.Finalizer); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.written.Record(image)
	s.rt.Log.Info("engine image released", "name", image.Name)
	return nil
}

// applyStatus writes the fields of im-monitor if any differs; of the nodes only those that do. While the pods of a large cluster become
// ready, all changes in the rest after a write are written together. It returns how long the rest is.
func (s *reconciler) applyStatus(ctx context.Context, image *v1beta2.EngineImage, wanted v1beta2.EngineImageStatus) (time.Duration, error) {
	if engineimage.Same(image.Status, wanted) {
		return 0, nil
	}
	began := s.rt.Clock.Now()
	if left := s.memory.writes.Left(image.Name, began); left > 0 {
		return left, nil
	}
	fields := map[string]any{
		"conditions": status.ConditionsField(wanted.Conditions), "state": wanted.State,
		"nodeDeploymentMap": mergepatch.OfMap(image.Status.NodeDeploymentMap, wanted.NodeDeploymentMap),
		"incompatible":      wanted.Incompatible, "refCount": wanted.RefCount, "noRefSince": wanted.NoRefSince,
	}
	maps.Copy(fields, versionFields(wanted.EngineVersions))
	if err := status.MergeStatus(ctx, s.rt.Client, image, fields, status.AtVersion()); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	s.written.Record(image)
	s.memory.writes.Done(image.Name, s.rt.Clock.Since(began), s.rt.Clock.Now())
	return 0, nil
}

// versionFields returns the fields with the versions; none while the versions are not known.
func versionFields(v v1beta2.EngineVersions) map[string]any {
	if v.CLIAPIVersion == 0 {
		return nil
	}
	return map[string]any{
		"version": v.Version, "gitCommit": v.GitCommit, "buildDate": v.BuildDate,
		"cliAPIVersion": v.CLIAPIVersion, "cliAPIMinVersion": v.CLIAPIMinVersion,
		"controllerAPIVersion": v.ControllerAPIVersion, "controllerAPIMinVersion": v.ControllerAPIMinVersion,
		"dataFormatVersion": v.DataFormatVersion, "dataFormatMinVersion": v.DataFormatMinVersion,
	}
}
