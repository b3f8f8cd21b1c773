package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/replicadata"
)

// Directories are the directories of v1 replicas on the disks of nodes.
type Directories interface {
	// RemoveDirectory removes the directory at a path of a node, and reports whether there was one. While a process serves it, it fails.
	RemoveDirectory(node, path string) (bool, error)
}

var longhornReplicas = v1beta2.GroupVersion.WithResource("replicas")

// reconcileDirectory removes the directory of a deleted v1 replica as disk-controller does: once that is approved, and its instance is
// proven gone for the present spec.
func (k *Kubelet) reconcileDirectory(ctx context.Context, name string) error {
	r, others, err := k.replica(name)
	if err != nil || r == nil || !replicadata.AwaitsRemoval(r) || !k.hears(r.Spec.NodeID) {
		return err
	}
	for _, other := range others {
		if v1beta2.HasSameDirectory(r, other) {
			return fmt.Errorf("directory %s stays while replica %s names it", r.Spec.DataDirectoryName, other.Name)
		}
	}
	there, err := k.options.Directories.RemoveDirectory(r.Spec.NodeID, path.Join(r.Spec.DiskPath, "replicas", r.Spec.DataDirectoryName))
	if err != nil {
		return err
	}
	reason := v1beta2.ReasonNothingToRemove
	if there {
		reason = v1beta2.ReasonRemoved
	}
	condition := map[string]any{"type": v1beta2.ReplicaDataRemoved, "status": "True", "reason": reason, "lastProbeTime": "",
		"lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339), "message": "The simulated directory is not there any more."}
	patch := &unstructured.Unstructured{Object: map[string]any{"apiVersion": v1beta2.GroupVersion.String(), "kind": "Replica",
		"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace, "uid": string(r.UID)},
		"status":   map[string]any{"conditions": []any{condition}}}}
	_, err = k.dynamic.Resource(longhornReplicas).Namespace(k.options.Namespace).ApplyStatus(ctx, name, patch,
		metav1.ApplyOptions{FieldManager: "disk-controller", Force: true})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// replica returns a Replica of the cache, nil if there is none, and all others that are of its node.
func (k *Kubelet) replica(name string) (found *v1beta2.Replica, others []*v1beta2.Replica, err error) {
	store, ok := k.replicas.Load().(cache.Store)
	if !ok {
		return nil, nil, nil
	}
	object, exists, err := store.GetByKey(k.options.Namespace + "/" + name)
	if err != nil || !exists {
		return nil, nil, err
	}
	if found, err = replicaOf(object); err != nil || found.DeletionTimestamp == nil {
		return found, nil, err
	}
	for _, object := range store.List() {
		other, err := replicaOf(object)
		if err != nil {
			return nil, nil, err
		}
		if other.Name != name && other.Spec.NodeID == found.Spec.NodeID {
			others = append(others, other)
		}
	}
	return found, others, nil
}

func replicaOf(object any) (*v1beta2.Replica, error) {
	raw, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("reading a Replica: it is a %T", object)
	}
	text, err := raw.MarshalJSON() // the converter knows no numbers that are texts
	if err != nil {
		return nil, fmt.Errorf("reading Replica %s: %w", raw.GetName(), err)
	}
	r := &v1beta2.Replica{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("reading Replica %s: %w", raw.GetName(), err)
	}
	return r, nil
}
