package record

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Follow serves the address of every instance-manager pod in the namespace, from the moment the pod has one until the
// pod is gone or has another. Addresses that cannot be served are reported to fail. It returns after the first list.
func (d *DataPlane) Follow(ctx context.Context, config *rest.Config, namespace string, fail func(error)) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building the client that follows instance-manager pods: %w", err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "longhorn.io/component=instance-manager" }))
	see := func(pod *corev1.Pod) {
		if pod.Status.PodIP == "" {
			return
		}
		if err := d.Serve(pod.Status.PodIP); err != nil {
			fail(fmt.Errorf("pod %s: %w", pod.Name, err))
		}
	}
	handle, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { see(obj.(*corev1.Pod)) },
		UpdateFunc: func(before, after any) {
			if old := before.(*corev1.Pod).Status.PodIP; old != "" && old != after.(*corev1.Pod).Status.PodIP {
				d.Forget(old)
			}
			see(after.(*corev1.Pod))
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok && pod.Status.PodIP != "" {
				d.Forget(pod.Status.PodIP)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("following instance-manager pods: %w", err)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
		return context.Cause(ctx)
	}
	return nil
}
