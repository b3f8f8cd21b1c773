// Package volumeusers derives the fields of a volume's status that describe its users in Kubernetes, and the bytes that it takes.
// attach-controller writes them to the Volume. The api-gateway computes them again: a pod mounts only if the gateway shows it at once.
package volumeusers

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// Users are the objects of Kubernetes that use a volume now.
type Users struct {
	// PersistentVolumes name the volume; usually there is one.
	PersistentVolumes []*corev1.PersistentVolume
	// Pods use the claim that Bound returns.
	Pods []*corev1.Pod
}

// Bound returns the PersistentVolume that counts: a bound one wins, then the first by name. It is nil if there is none.
func Bound(list []*corev1.PersistentVolume) *corev1.PersistentVolume {
	var found *corev1.PersistentVolume
	for _, pv := range list {
		if found == nil || isBound(pv) && !isBound(found) || isBound(pv) == isBound(found) && pv.Name < found.Name {
			found = pv
		}
	}
	return found
}

func isBound(pv *corev1.PersistentVolume) bool {
	return pv.Status.Phase == corev1.VolumeBound && pv.Spec.ClaimRef != nil
}

// Follow returns the users of a volume, after the users that were known before. The last claim and the last pods stay when they have
// gone, with the time at which that was noticed: people restore a volume for its former claim.
func Follow(before v1beta2.KubernetesStatus, now Users, at string) v1beta2.KubernetesStatus {
	out := before
	out.PVName, out.PVStatus = "", ""
	pv := Bound(now.PersistentVolumes)
	if pv != nil {
		out.PVName, out.PVStatus = pv.Name, string(pv.Status.Phase)
	}
	switch {
	case pv != nil && isBound(pv):
		out.Namespace, out.PVCName, out.LastPVCRefAt = pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name, ""
		if out.Namespace != before.Namespace || out.PVCName != before.PVCName {
			out.WorkloadsStatus, out.LastPodRefAt = nil, "" // those were pods of another claim
		}
	case out.PVCName == "" && pv != nil && pv.Spec.ClaimRef != nil && pv.Status.Phase == corev1.VolumeReleased:
		out.Namespace, out.PVCName, out.LastPVCRefAt = pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name, at
	case out.PVCName != "":
		out.LastPVCRefAt = cmp.Or(out.LastPVCRefAt, at)
	}
	switch {
	case len(now.Pods) > 0:
		out.WorkloadsStatus, out.LastPodRefAt = workloadsOf(now.Pods), ""
	case len(out.WorkloadsStatus) > 0:
		out.LastPodRefAt = cmp.Or(out.LastPodRefAt, at)
	}
	return out
}

// workloadsOf describes pods, by name.
func workloadsOf(pods []*corev1.Pod) []v1beta2.WorkloadStatus {
	out := make([]v1beta2.WorkloadStatus, 0, len(pods))
	for _, pod := range pods {
		w := v1beta2.WorkloadStatus{PodName: pod.Name, PodStatus: string(pod.Status.Phase)}
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			w.WorkloadName, w.WorkloadType = owner.Name, owner.Kind
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b v1beta2.WorkloadStatus) int { return cmp.Compare(a.PodName, b.PodName) })
	return out
}

// ActualSize returns how many bytes the snapshots of an engine and its volume head take in one replica.
func ActualSize(e *v1beta2.Engine) int64 {
	var sum int64
	for _, s := range e.Status.Snapshots {
		sum += v1beta2.BytesOf(s.Size)
	}
	return sum
}

// SizeOf returns how many bytes a volume takes: the sum of its running engine's list, or the size of before if no engine lists any.
func SizeOf(before int64, engines []v1beta2.Engine) int64 {
	for i := range engines {
		e := &engines[i]
		if e.Spec.Active && e.Status.CurrentState == v1beta2.InstanceStateRunning && len(e.Status.Snapshots) > 0 {
			return ActualSize(e)
		}
	}
	return before
}
