package shelltest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
)

// Kubelet makes pods run, gives each an address, and finishes their deletion.
type Kubelet struct {
	mu   sync.Mutex
	next int
}

func startKubelet(t testing.TB, admin client.WithWatch, namespace string) *Kubelet {
	k := &Kubelet{}
	testkit.React(t, admin, namespace, func(ctx context.Context) error { return k.poll(ctx, t, admin, namespace) },
		&corev1.PodList{})
	return k
}

func (k *Kubelet) poll(ctx context.Context, t testing.TB, admin client.Client, namespace string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var pods corev1.PodList
	if err := admin.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	var failed error
	for i := range pods.Items {
		if err := k.serve(ctx, admin, &pods.Items[i]); client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
			t.Logf("kubelet: %s: %v", pods.Items[i].Name, err)
			failed = err
		}
	}
	return failed
}

func (k *Kubelet) serve(ctx context.Context, admin client.Client, pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return admin.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	case pod.Status.Phase != corev1.PodPending:
		return nil
	case strings.HasSuffix(pod.Spec.Containers[0].Image, MissingTag):
		return notPulled(ctx, admin, pod)
	}
	k.next++
	now := metav1.Now()
	address := fmt.Sprintf("10.0.%d.%d", k.next/250, k.next%250+1)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, StartTime: &now,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, ContainerID: fmt.Sprintf("containerd://%d", k.next), Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}},
	}
	return admin.Status().Update(ctx, pod)
}

// MissingTag ends the names of images that no kubelet can pull.
const MissingTag = ":missing"

// notPulled reports of a pod, once, that its image cannot be pulled.
func notPulled(ctx context.Context, admin client.Client, pod *corev1.Pod) error {
	if len(pod.Status.ContainerStatuses) > 0 {
		return nil
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
	return admin.Status().Update(ctx, pod)
}
