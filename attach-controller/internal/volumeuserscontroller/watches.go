package volumeuserscontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/volumeusers"
)

// watches maps the events of other objects to their volumes.
type watches struct{ kube.Mapper }

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.For(&v1beta2.Volume{}, builder.WithPredicates(kube.OnDeepChange(volumeFacts))).
		Watches(&v1beta2.Engine{}, w.To(volumeOf), builder.WithPredicates(kube.OnChange(engineFacts))).
		Watches(&corev1.PersistentVolume{}, w.To(handleOf), builder.WithPredicates(kube.OnChange(persistentVolumeFacts))).
		Watches(&corev1.Pod{}, w.To(w.ofPod), builder.WithPredicates(kube.If(kube.UsesClaims), kube.OnDeepChange(podFacts)))
}

// The facts are the fields of an object that this controller reads. An update that leaves all of them unchanged is filtered.

func volumeFacts(v *v1beta2.Volume) any { return []any{v.Status.KubernetesStatus, v.Status.ActualSize} }

func engineFacts(e *v1beta2.Engine) [3]any {
	return [3]any{e.Spec.Active, e.Status.CurrentState, volumeusers.ActualSize(e)}
}

func persistentVolumeFacts(pv *corev1.PersistentVolume) [3]string {
	claim := ""
	if ref := pv.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	return [3]string{kube.VolumeHandleOf(pv), string(pv.Status.Phase), claim}
}

func podFacts(pod *corev1.Pod) any {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		owner = &metav1.OwnerReference{}
	}
	return []any{pod.Status.Phase, owner.Kind, owner.Name}
}

func volumeOf(_ context.Context, obj client.Object) []string { return []string{kube.VolumeName(obj)} }

func handleOf(_ context.Context, obj client.Object) []string {
	return []string{kube.VolumeHandleOf(obj.(*corev1.PersistentVolume))}
}

// ofPod returns the volumes of the claims that a pod uses.
func (w watches) ofPod(ctx context.Context, obj client.Object) []string {
	return kube.VolumesOfPod(ctx, w.Reader, obj.(*corev1.Pod))
}
