package podrecoverycontroller

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/kube"
)

// Cache returns the cached parts of pods: the input of package podrecovery and the names of owners for pods with claims, little more than
// the name for all other pods. It keeps the EndpointSlices of the Service that the CSI plugin asks.
func Cache() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:                {Namespaces: map[string]cache.Config{cache.AllNamespaces: {}}, Transform: kube.Keep(thinPod)},
		&discoveryv1.EndpointSlice{}: {Label: labels.SelectorFromSet(labels.Set(ofBackend)), Transform: kube.Keep(thinSlice)},
	}
}

func thinPod(pod *corev1.Pod) *corev1.Pod {
	thin := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		ResourceVersion:   pod.ResourceVersion,
		CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp}}
	thin.Status.StartTime = pod.Status.StartTime
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.PersistentVolumeClaim.ClaimName}
			thin.Spec.Volumes = append(thin.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		case v.Ephemeral != nil:
			thin.Spec.Volumes = append(thin.Spec.Volumes,
				corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
		}
	}
	if len(thin.Spec.Volumes) == 0 {
		return thin
	}
	thin.DeletionGracePeriodSeconds = pod.DeletionGracePeriodSeconds
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		thin.OwnerReferences = []metav1.OwnerReference{{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name,
			Controller: owner.Controller}}
	}
	thin.Spec.NodeName, thin.Status.Phase = pod.Spec.NodeName, pod.Status.Phase
	return thin
}
