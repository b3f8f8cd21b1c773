package podrecoverycontroller

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/settingcontroller"
)

// watches maps the events of other objects to their pods.
type watches struct {
	mapper kube.Mapper // of all namespaces
	// namespace is that of Longhorn's objects.
	namespace string
}

func (w watches) add(b *builder.Builder) *builder.Builder {
	to := func(find func(context.Context, client.Object) []reconcile.Request) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(find)
	}
	return b.For(&corev1.Pod{}, builder.WithPredicates(kube.If(kube.UsesClaims), kube.OnAnyChange[corev1.Pod]())).
		Watches(&corev1.Pod{}, to(w.thoseThatWaitFor), builder.WithPredicates(kube.If(kube.UsesClaims), kube.OnEnd())).
		Watches(&corev1.Pod{}, to(w.usersOfShare), builder.WithPredicates(w.shares(), kube.OnAnyChange[corev1.Pod]())).
		Watches(&corev1.PersistentVolume{}, to(w.ofPersistentVolume),
			builder.WithPredicates(kube.OnAnyChange[corev1.PersistentVolume]())).
		Watches(&v1beta2.Volume{}, to(w.ofVolume), builder.WithPredicates(detached())).
		Watches(&discoveryv1.EndpointSlice{}, to(w.ofDetached), builder.WithPredicates(kube.OnChange(isServing))).
		Watches(&storagev1.VolumeAttachment{}, to(w.ofAttachment), builder.WithPredicates(kube.OnLife())).
		Watches(&v1beta2.Node{}, to(w.ofNode), builder.WithPredicates(
			kube.OnChange(v1beta2.IsNodeDown), kube.CreatedIf(v1beta2.IsNodeDown))).
		Watches(&corev1.Node{}, to(w.ofNode), builder.WithPredicates(hostChanged())).
		Watches(&v1beta2.Setting{}, to(w.all), builder.WithPredicates(settingcontroller.Concerns(obeyed)))
}

func obeyed(name string) bool {
	return slices.Contains([]string{setting.AutoDeletePod, setting.SparedControllers, setting.NodeDownPodDeletion}, name)
}

func (w watches) shares() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetNamespace() == w.namespace && shareOf(o) != "" })
}

// detached passes Volumes that were detached under their users, and changes of whether their share serves.
func detached() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return e.Object.(*v1beta2.Volume).Status.RemountRequestedAt != "" },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*v1beta2.Volume).Status, e.ObjectNew.(*v1beta2.Volume).Status
			return before.RemountRequestedAt != after.RemountRequestedAt || before.ShareState != after.ShareState
		},
	}
}

// hostChanged passes changes and the end of Kubernetes' nodes, but not their state at the start of the process: down nodes pass as
// Longhorn's.
func hostChanged() predicate.Predicate {
	return predicate.And(kube.OnAnyChange[corev1.Node](), kube.NotCreated())
}

// pods lists pods from the cache, and maps those that pass.
func (w watches) pods(ctx context.Context, pass func(podrecovery.Pod) bool, which ...client.ListOption) []reconcile.Request {
	var list corev1.PodList
	w.mapper.List(ctx, &list, which...)
	var out []reconcile.Request
	for i := range list.Items {
		if pass(podrecovery.FromPod(&list.Items[i])) {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

func everyPod(podrecovery.Pod) bool { return true }

// open is about pods whose VolumeAttachments are read.
func open(p podrecovery.Pod) bool { return p.Leaving() || p.Waits }

func isWaiting(p podrecovery.Pod) bool { return p.Waits }

func (w watches) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return w.pods(ctx, func(p podrecovery.Pod) bool { return p.Node != "" })
}

// thoseThatWaitFor finds the pods that wait for the volumes of a deleted pod.
func (w watches) thoseThatWaitFor(ctx context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, claim := range kube.ClaimsOf(o.(*corev1.Pod)) {
		out = append(out, w.pods(ctx, isWaiting, client.MatchingFields{kube.FieldClaim: claim})...)
	}
	return out
}

func (w watches) usersOfShare(ctx context.Context, o client.Object) []reconcile.Request {
	return w.usersOf(ctx, shareOf(o))
}

func (w watches) ofVolume(ctx context.Context, o client.Object) []reconcile.Request {
	return w.usersOf(ctx, o.GetName())
}

// ofDetached finds the pods of all volumes that were ever detached under their users.
func (w watches) ofDetached(ctx context.Context, _ client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, volume := range w.detachedVolumes(ctx) {
		out = append(out, w.usersOf(ctx, volume)...)
	}
	return out
}

func (w watches) detachedVolumes(ctx context.Context) []string {
	var list v1beta2.VolumeList
	w.mapper.List(ctx, &list, client.InNamespace(w.namespace))
	var out []string
	for i := range list.Items {
		if list.Items[i].Status.RemountRequestedAt != "" {
			out = append(out, list.Items[i].Name)
		}
	}
	return out
}

func (w watches) usersOf(ctx context.Context, volume string) []reconcile.Request {
	var list corev1.PersistentVolumeList
	w.mapper.List(ctx, &list, client.MatchingFields{kube.FieldHandle: volume})
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, w.ofPersistentVolume(ctx, &list.Items[i])...)
	}
	return out
}

func (w watches) ofPersistentVolume(ctx context.Context, o client.Object) []reconcile.Request {
	return w.ofClaim(ctx, o.(*corev1.PersistentVolume), everyPod)
}

func (w watches) ofClaim(ctx context.Context, pv *corev1.PersistentVolume, pass func(podrecovery.Pod) bool) []reconcile.Request {
	claim := kube.ClaimOf(pv)
	if claim == "" {
		return nil
	}
	return w.pods(ctx, pass, client.MatchingFields{kube.FieldClaim: claim})
}

func (w watches) ofAttachment(ctx context.Context, o client.Object) []reconcile.Request {
	return w.ofSource(ctx, o.(*storagev1.VolumeAttachment), open)
}

func (w watches) ofSource(ctx context.Context, va *storagev1.VolumeAttachment, pass func(podrecovery.Pod) bool) []reconcile.Request {
	name := sourceOf(va)
	if name == "" {
		return nil
	}
	var pv corev1.PersistentVolume
	if err := w.mapper.Reader.Get(ctx, client.ObjectKey{Name: name}, &pv, client.UnsafeDisableDeepCopy); err != nil {
		return nil // a deleted one is bound to no claim
	}
	return w.ofClaim(ctx, &pv, pass)
}

// ofNode finds the pods that leave the node, and those elsewhere that wait for volumes attached to it.
func (w watches) ofNode(ctx context.Context, o client.Object) []reconcile.Request {
	out := w.pods(ctx, podrecovery.Pod.Leaving, client.MatchingFields{byNode: o.GetName()})
	var list storagev1.VolumeAttachmentList
	w.mapper.List(ctx, &list, client.MatchingFields{byNode: o.GetName()})
	for i := range list.Items {
		out = append(out, w.ofSource(ctx, &list.Items[i], isWaiting)...)
	}
	return out
}
