package present

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// KubernetesFacts are the objects of Kubernetes that use a volume.
type KubernetesFacts struct {
	PersistentVolume *corev1.PersistentVolume // nil if none names the volume
	Pods             []*corev1.Pod            // the pods that use its claim
}

// KubernetesStatus names the users of a volume. The CSI plugin publishes a volume only if one of its pods is pending, or all run.
type KubernetesStatus struct {
	PVName          string           `json:"pvName"`
	PVStatus        string           `json:"pvStatus"`
	Namespace       string           `json:"namespace"`
	PVCName         string           `json:"pvcName"`
	LastPVCRefAt    string           `json:"lastPVCRefAt"`
	LastPodRefAt    string           `json:"lastPodRefAt"`
	WorkloadsStatus []WorkloadStatus `json:"workloadsStatus"`
}

// WorkloadStatus is a pod that uses a volume.
type WorkloadStatus struct {
	PodName      string `json:"podName"`
	PodStatus    string `json:"podStatus"`
	WorkloadName string `json:"workloadName"`
	WorkloadType string `json:"workloadType"`
}

// NewKubernetesStatus derives the users of a volume: no controller writes them to the Volume.
func NewKubernetesStatus(f KubernetesFacts, stored v1beta2.VolumeStatus) KubernetesStatus {
	out := KubernetesStatus{LastPVCRefAt: stored.KubernetesStatus.LastPVCRefAt, LastPodRefAt: stored.KubernetesStatus.LastPodRefAt}
	pv := f.PersistentVolume
	if pv == nil {
		return out
	}
	out.PVName, out.PVStatus = pv.Name, string(pv.Status.Phase)
	if pv.Spec.ClaimRef != nil {
		out.Namespace, out.PVCName = pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name
	}
	for _, pod := range f.Pods {
		w := WorkloadStatus{PodName: pod.Name, PodStatus: string(pod.Status.Phase)}
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			w.WorkloadName, w.WorkloadType = owner.Name, owner.Kind
		}
		out.WorkloadsStatus = append(out.WorkloadsStatus, w)
	}
	slices.SortFunc(out.WorkloadsStatus, func(a, b WorkloadStatus) int { return cmp.Compare(a.PodName, b.PodName) })
	return out
}
