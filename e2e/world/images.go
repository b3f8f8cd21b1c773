package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/managerimage"
)

// Image creates an EngineImage whose binary has that CLI API version, and waits until it is deployed.
func (w *World) Image(ctx context.Context, image string, cli int) error {
	if err := w.ctl(ctx, http.MethodPost, "/v1/engine-images", map[string]any{"image": image, "cli": cli}, nil); err != nil {
		return err
	}
	i := &v1beta2.EngineImage{}
	i.Name, i.Namespace, i.Spec.Image = v1beta2.EngineImageName(image), w.Namespace, image
	if err := w.Admin.Create(ctx, i); err != nil {
		return fmt.Errorf("creating engine image %s: %w", image, err)
	}
	if by, err := w.byLonghorn(ctx); err != nil || by {
		return errors.Join(err, w.deployAsLonghorn(ctx, image, cli))
	}
	return w.WaitImage(ctx, image, time.Minute)
}

// deployDefault waits until the default image is deployed.
func (w *World) deployDefault(ctx context.Context) error {
	if by, err := w.byLonghorn(ctx); err != nil || by {
		return errors.Join(err, w.deployAsLonghorn(ctx, EngineImage, 12))
	}
	return w.WaitImage(ctx, EngineImage, time.Minute+time.Duration(len(w.options.Nodes))*200*time.Millisecond)
}

// byLonghorn reports whether im-monitor is of a release that leaves engine images to Longhorn: its Role has no DaemonSets.
func (w *World) byLonghorn(ctx context.Context) (bool, error) {
	source := w.options.Sources[IMMonitor]
	if source == "" {
		return false, nil
	}
	root, err := root(ctx, source)
	if err != nil {
		return false, err
	}
	role, err := os.ReadFile(filepath.Join(root, IMMonitor, "deploy", "role.yaml"))
	if err != nil {
		return false, fmt.Errorf("reading the role of %s: %w", IMMonitor, err)
	}
	return !strings.Contains(string(role), "daemonsets"), nil
}

// deployAsLonghorn leaves an engine image as a longhorn-manager that ended does: with its DaemonSet, deployed on every node.
func (w *World) deployAsLonghorn(ctx context.Context, image string, cli int) error {
	i := &v1beta2.EngineImage{}
	i.Name, i.Namespace, i.Spec.Image = v1beta2.EngineImageName(image), w.Namespace, image
	labels := map[string]string{v1beta2.LabelComponent: v1beta2.ComponentEngineImage, v1beta2.LabelEngineImage: i.Name}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "engine-image-" + i.Name, Namespace: w.Namespace, Labels: labels},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "engine-image-" + i.Name, Image: image,
					Command:         []string{"/bin/bash", "-c", "cp -p /usr/local/bin/longhorn /data/longhorn; sleep infinity"},
					SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
					VolumeMounts:    []corev1.VolumeMount{{Name: "data", MountPath: "/data/"}}}},
				Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
					Path: managerimage.ControlPath + "/engine-binaries/" + v1beta2.EngineBinaryDirectory(image)}}}}}}}}
	for _, object := range []client.Object{i, set} {
		if err := w.Admin.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("creating %s: %w", object.GetName(), err)
		}
	}
	deployed := map[string]bool{}
	for _, node := range w.options.Nodes {
		deployed[node] = true
	}
	status := map[string]any{"cliAPIVersion": cli, "cliAPIMinVersion": min(cli, 3), "nodeDeploymentMap": deployed}
	if err := w.setStatus(ctx, i, status); err != nil {
		return err
	}
	return w.Wait(ctx, "the pods of engine image "+image, time.Minute, func(ctx context.Context) (string, error) {
		var pods corev1.PodList
		if err := w.Admin.List(ctx, &pods, client.InNamespace(w.Namespace), client.MatchingLabels(labels)); err != nil {
			return "", err
		}
		running := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running < len(w.options.Nodes) {
			return fmt.Sprintf("%d of %d run", running, len(w.options.Nodes)), nil
		}
		return "", nil
	})
}

// WaitImage waits until the engine image is on every node, and the versions of its binary are known.
func (w *World) WaitImage(ctx context.Context, image string, within time.Duration) error {
	return w.Wait(ctx, "engine image "+image, within, func(ctx context.Context) (string, error) {
		i := &v1beta2.EngineImage{}
		if err := w.Get(ctx, v1beta2.EngineImageName(image), i); apierrors.IsNotFound(err) {
			return "it does not exist", nil
		} else if err != nil {
			return "", err
		}
		for _, node := range w.options.Nodes {
			if !i.Status.NodeDeploymentMap[node] {
				return "it is not on " + node + ": " + conditionMessage(i), nil
			}
		}
		if i.Status.State != v1beta2.EngineImageDeployed || i.Status.CLIAPIVersion == 0 {
			return "it is " + i.Status.State + ": " + conditionMessage(i), nil
		}
		return "", nil
	})
}

// conditionMessage returns what condition ready of an EngineImage says.
func conditionMessage(i *v1beta2.EngineImage) string {
	if ready := conditions.Get(i.Status.Conditions, v1beta2.EngineImageReady); ready != nil {
		return ready.Message
	}
	return "nothing is known"
}
