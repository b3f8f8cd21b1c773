// Package engineimagecontroller makes the verdicts of package engineimage true, one key for each EngineImage: it creates the EngineImage of
// the default image, keeps the DaemonSet and the status of each, reads the versions of the binary by a pod, and lets an EngineImage go that
// nothing needs. Its memory (failed pods, the pace of counting) may be lost.
package engineimagecontroller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/engineimage"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// workers are few: there are as many EngineImages as versions of the engine in use.
const workers = 2

type reconciler struct {
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	options  engineimage.Options
	// pods has the pods of engine images. It is a cache of its own, so that no one takes them for pods of instance managers.
	pods    cache.Cache
	written kube.Written // EngineImages, their DaemonSets, and pods that were deleted
	memory  memory
	mapper  kube.Mapper
}

// Setup registers the controller.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, options engineimage.Options) error {
	options.Namespace = rt.Namespace
	s := &reconciler{rt: rt, settings: settings, options: options, memory: newMemory(),
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}, mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	if err := rt.AddIndexes(ctx, kube.IndexByEach(&v1beta2.Engine{}, byImage, imagesOfEngine),
		kube.IndexByEach(&v1beta2.Replica{}, byImage, imagesOfReplica)); err != nil {
		return err
	}
	if err := s.watchPods(); err != nil {
		return err
	}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("engine-image").
		WithOptions(queue.Options(workers)).
		For(&v1beta2.EngineImage{}).
		Watches(&appsv1.DaemonSet{}, s.mapper.To(imageOf), builder.WithPredicates(kube.OnDeepChange(daemonSetFacts))).
		WatchesRawSource(source.Kind(s.pods, client.Object(&corev1.Pod{}), handler.EventHandler(s.mapper.To(imageOf)),
			kube.OnDeepChange(podFacts))).
		Watches(&v1beta2.Engine{}, s.mapper.To(s.namedBy), builder.WithPredicates(kube.OnDeepChange(imagesOfEngine))).
		Watches(&v1beta2.Replica{}, s.mapper.To(s.namedBy), builder.WithPredicates(kube.OnDeepChange(imagesOfReplica))).
		Watches(&v1beta2.Node{}, s.mapper.To(s.all), builder.WithPredicates(kube.OnChange(isReady))).
		Watches(&corev1.Node{}, s.mapper.To(s.all), builder.WithPredicates(kube.OnDeepChange(nodeLabels))).
		Watches(&v1beta2.Setting{}, s.mapper.To(s.allAndDefault), builder.WithPredicates(settingcontroller.Concerns())).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the controller of engine images: %w", err)
	}
	return nil
}

// watchPods adds the cache of the pods of engine images to the manager.
func (s *reconciler) watchPods() error {
	ours, err := labels.NewRequirement(v1beta2.LabelComponent, selection.In,
		[]string{v1beta2.ComponentEngineImage, engineimage.ComponentVersion})
	if err != nil {
		return fmt.Errorf("selecting the pods of engine images: %w", err)
	}
	m := s.rt.Manager
	s.pods, err = cache.New(m.GetConfig(), cache.Options{HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(),
		DefaultNamespaces: map[string]cache.Config{s.rt.Namespace: {}}, DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: labels.NewSelector().Add(*ours)}}})
	if err != nil {
		return fmt.Errorf("building the cache of the pods of engine images: %w", err)
	}
	if err := m.Add(s.pods); err != nil {
		return fmt.Errorf("adding the cache of the pods of engine images: %w", err)
	}
	return nil
}

// byImage finds v1 Engines and Replicas by the images that they name and run.
const byImage = "engine-image"

func imagesOfEngine(e *v1beta2.Engine) []string {
	return imagesOf(e.Spec.DataEngine, e.Spec.Image, e.Status.CurrentImage)
}

func imagesOfReplica(r *v1beta2.Replica) []string {
	return imagesOf(r.Spec.DataEngine, r.Spec.Image, r.Status.CurrentImage)
}

// imagesOf leaves v2 out, whose images are those of instance managers.
func imagesOf(dataEngine string, images ...string) []string {
	if dataEngine == v1beta2.DataEngineV2 {
		return nil
	}
	return images
}

// namedBy returns the EngineImages of the images that an Engine or Replica names.
func (s *reconciler) namedBy(ctx context.Context, o client.Object) (out []string) {
	var images []string
	switch of := o.(type) {
	case *v1beta2.Engine:
		images = imagesOfEngine(of)
	case *v1beta2.Replica:
		images = imagesOfReplica(of)
	}
	var list v1beta2.EngineImageList
	s.mapper.List(ctx, &list)
	for i := range list.Items {
		for _, image := range images {
			if image != "" && list.Items[i].Spec.Image == image {
				out = append(out, list.Items[i].Name)
			}
		}
	}
	return out
}

// imageOf returns the EngineImage of a DaemonSet or pod.
func imageOf(_ context.Context, o client.Object) []string {
	return []string{o.GetLabels()[v1beta2.LabelEngineImage]}
}

func (s *reconciler) all(ctx context.Context, _ client.Object) []string {
	return s.mapper.Names(ctx, &v1beta2.EngineImageList{})
}

// allAndDefault also returns the EngineImage of the default image, which need not exist.
func (s *reconciler) allAndDefault(ctx context.Context, o client.Object) []string {
	out := s.all(ctx, o)
	if values, err := s.settings.Current(ctx); err == nil && values.EngineImage != "" {
		out = append(out, v1beta2.EngineImageName(values.EngineImage))
	}
	return out
}

func daemonSetFacts(d *appsv1.DaemonSet) appsv1.DaemonSetSpec { return d.Spec }

func isReady(n *v1beta2.Node) bool { return conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady) }

func nodeLabels(n *corev1.Node) map[string]string { return n.Labels }
