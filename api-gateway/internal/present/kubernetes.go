package present

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumeusers"
)

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

// NewKubernetesStatus shows the users of a volume. attach-controller writes them to the Volume, and is a moment later: a pod that is
// pending mounts at once only if it is shown.
func NewKubernetesStatus(now volumeusers.Users, stored v1beta2.KubernetesStatus) KubernetesStatus {
	s := volumeusers.Follow(stored, now, "")
	out := KubernetesStatus{PVName: s.PVName, PVStatus: s.PVStatus, Namespace: s.Namespace, PVCName: s.PVCName,
		LastPVCRefAt: s.LastPVCRefAt, LastPodRefAt: s.LastPodRefAt}
	for _, w := range s.WorkloadsStatus {
		out.WorkloadsStatus = append(out.WorkloadsStatus, WorkloadStatus(w))
	}
	return out
}
