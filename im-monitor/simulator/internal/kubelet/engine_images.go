package kubelet

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

var engineImages = v1beta2.GroupVersion.WithResource("engineimages")

// deployImages plays Longhorn's engine image controller and its DaemonSets: each image that the flags name has an object, which reports
// that the image is deployed on the node. It is done once for each node.
func (k *Kubelet) deployImages(ctx context.Context, node string) error {
	if _, done := k.deployed.Load(node); done {
		return nil
	}
	objects := k.dynamic.Resource(engineImages).Namespace(k.options.Namespace)
	for image, cli := range k.options.EngineImages {
		name := v1beta2.EngineImageName(image)
		_, err := objects.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1beta2.GroupVersion.String(), "kind": "EngineImage", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"image": image},
		}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating engine image %s: %w", name, err)
		}
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"state": "deployed", "cliAPIVersion": cli,
			"cliAPIMinVersion":  min(cli, 3),
			"nodeDeploymentMap": map[string]bool{node: true}}})
		if err != nil {
			return fmt.Errorf("encoding the status of engine image %s: %w", name, err)
		}
		if _, err := objects.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			return fmt.Errorf("writing the status of engine image %s: %w", name, err)
		}
	}
	k.deployed.Store(node, true)
	return nil
}
