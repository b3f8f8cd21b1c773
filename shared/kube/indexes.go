package kube

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// The fields of the indexes that several reconcilers of a binary share.
const (
	// FieldVolume finds the objects of a volume: ByVolume.
	FieldVolume = "volume"
	// FieldNode finds the objects of a node: ByNode.
	FieldNode = "node"
	// FieldHandle finds the PersistentVolumes of a volume: ByHandle.
	FieldHandle = "handle"
	// FieldClaim finds the pods that use a claim, and the PersistentVolumes that are bound to it: ByClaim.
	FieldClaim = "claim"
)

// Index finds the objects of one kind in a cache by keys.
type Index struct {
	of     client.Object
	field  string
	keys   client.IndexerFunc
	shared bool
}

// IndexBy finds objects by one key; an object whose key is empty is not in the index.
func IndexBy[T client.Object](of T, field string, key func(T) string) Index {
	return IndexByEach(of, field, func(obj T) []string { return []string{key(obj)} })
}

// IndexIf finds the objects of which is reports true by one key, Yes.
func IndexIf[T client.Object](of T, field string, is func(T) bool) Index {
	return IndexBy(of, field, func(obj T) string {
		if is(obj) {
			return Yes
		}
		return ""
	})
}

// Yes is the key of an index that has one.
const Yes = "yes"

// IndexByEach finds objects by each of their keys; empty keys are left out, equal ones count once.
func IndexByEach[T client.Object](of T, field string, keys func(T) []string) Index {
	return Index{of: of, field: field, keys: func(obj client.Object) []string { return distinct(keys(obj.(T))) }}
}

// Shared marks an index that several reconcilers of a binary add, all with the same keys.
func Shared(index Index) Index {
	index.shared = true
	return index
}

// ByVolume finds Engines, EngineFrontends, Replicas or Snapshots by the volume that they name. Several reconcilers may add it.
func ByVolume(of client.Object) Index {
	return Shared(IndexBy(of, FieldVolume, VolumeName))
}

// ByNode finds Engines, EngineFrontends, Replicas or InstanceManagers by the node of their spec. Several reconcilers may add it.
func ByNode(of client.Object) Index {
	return Shared(IndexBy(of, FieldNode, NodeName))
}

// ByHandle finds PersistentVolumes of Longhorn's driver by their volume. Several reconcilers may add it.
func ByHandle() Index {
	return Shared(IndexBy(&corev1.PersistentVolume{}, FieldHandle, VolumeHandleOf))
}

// VolumeHandleOf is the Longhorn volume of a PersistentVolume; empty: it is another driver's.
func VolumeHandleOf(pv *corev1.PersistentVolume) string {
	if csi := pv.Spec.CSI; csi != nil && csi.Driver == v1beta2.CSIDriver {
		return csi.VolumeHandle
	}
	return ""
}

// ByClaim finds pods, and PersistentVolumes of Longhorn's driver, by the keys of their claims. Several reconcilers may add the indexes.
func ByClaim() []Index {
	return []Index{
		Shared(IndexByEach(&corev1.Pod{}, FieldClaim, ClaimsOf)),
		Shared(IndexBy(&corev1.PersistentVolume{}, FieldClaim, ClaimOf)),
	}
}

// ClaimsOf returns the keys of the claims that a pod uses, including claims that are created for the pod: <namespace>/<name>.
func ClaimsOf(pod *corev1.Pod) []string {
	var out []string
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			out = append(out, pod.Namespace+"/"+pod.Name+"-"+v.Name)
		}
	}
	return out
}

// UsesClaims reports whether a pod uses any claim.
func UsesClaims(pod *corev1.Pod) bool { return len(ClaimsOf(pod)) > 0 }

// ClaimOf returns the key of the claim that is bound to a PersistentVolume of Longhorn's driver. It is empty for a PersistentVolume of
// another driver, and for an unbound one.
func ClaimOf(pv *corev1.PersistentVolume) string {
	if VolumeHandleOf(pv) == "" || pv.Spec.ClaimRef == nil || pv.Status.Phase != corev1.VolumeBound {
		return ""
	}
	return pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name
}

// Indexes adds indexes to a cache. Of those that several reconcilers share, the first to come is the one that is added.
// It is not safe for concurrent use.
type Indexes struct{ added map[string]bool }

// Add adds indexes. That another index of the same kind and field exists is an error.
func (x *Indexes) Add(ctx context.Context, indexer client.FieldIndexer, list ...Index) error {
	for _, i := range list {
		name := fmt.Sprintf("%T/%s", i.of, i.field)
		if i.shared && x.added[name] {
			continue
		}
		if err := indexer.IndexField(ctx, i.of, i.field, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.field, err)
		}
		if !i.shared {
			continue
		}
		if x.added == nil {
			x.added = map[string]bool{}
		}
		x.added[name] = true
	}
	return nil
}

func distinct(keys []string) []string {
	out := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "" })
	slices.Sort(out)
	return slices.Compact(out)
}
