package podrecoverycontroller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/status"
)

// Owner is the field manager of the condition Remounted.
const Owner = "attach-controller.pods"

// reporter reports on each Volume which pods stay although they have a dead mount, because another pod could not mount the volume.
type reporter struct {
	client   client.Client
	observer observer
	clock    clock.PassiveClock
	written  kube.Written
}

func (r *reporter) setUp(manager ctrl.Manager, w watches) error {
	volumes := kube.Mapper{Reader: w.mapper.Reader, Namespace: w.namespace}
	err := ctrl.NewControllerManagedBy(manager).Named("remounted").WithOptions(queue.Options(1)).
		For(&v1beta2.Volume{}, builder.WithPredicates(isReported(), kube.OnDeepChange(remountFacts))).
		Watches(&corev1.Pod{}, volumes.To(w.volumesOf), builder.WithPredicates(kube.If(kube.UsesClaims), kube.OnAnyChange[corev1.Pod]())).
		Watches(&corev1.PersistentVolume{}, volumes.To(w.volumesOf), builder.WithPredicates(kube.OnAnyChange[corev1.PersistentVolume]())).
		Watches(&discoveryv1.EndpointSlice{}, volumes.To(func(ctx context.Context, _ client.Object) []string { return w.detachedVolumes(ctx) }),
			builder.WithPredicates(kube.OnChange(isServing))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the reporter of pods with a dead mount: %w", err)
	}
	return nil
}

// isReported passes Volumes that were ever detached under their users, or have the condition.
func isReported() predicate.Predicate {
	return kube.If(func(v *v1beta2.Volume) bool {
		return v.Status.RemountRequestedAt != "" || conditions.Get(v.Status.Conditions, v1beta2.VolumeRemounted) != nil
	})
}

func remountFacts(v *v1beta2.Volume) any {
	return []any{v.Status.RemountRequestedAt, conditions.Get(v.Status.Conditions, v1beta2.VolumeRemounted)}
}

// volumesOf returns the volumes of a pod, or of a PersistentVolume, that were ever detached under their users.
func (w watches) volumesOf(ctx context.Context, obj client.Object) []string {
	var names []string
	switch o := obj.(type) {
	case *corev1.PersistentVolume:
		names = []string{kube.VolumeHandleOf(o)}
	case *corev1.Pod:
		names = kube.VolumesOfPod(ctx, w.mapper.Reader, o)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		v, err := lookup.Shared(ctx, w.mapper.Reader, w.namespace, name, &v1beta2.Volume{})
		return err != nil || v == nil || v.Status.RemountRequestedAt == ""
	})
}

// Reconcile writes the condition Remounted of one Volume.
func (r *reporter) Reconcile(ctx context.Context, request reconcile.Request) (ctrl.Result, error) {
	v, err := lookup.Shared(ctx, r.client, request.Namespace, request.Name, &v1beta2.Volume{})
	if err != nil || v == nil || v.DeletionTimestamp != nil {
		return ctrl.Result{}, err
	}
	if r.written.Stale(v) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	pod, at, err := r.keptPod(ctx, v)
	if err != nil {
		return ctrl.Result{}, err
	}
	after := ctrl.Result{}
	if !at.IsZero() {
		after.RequeueAfter = max(at.Sub(r.clock.Now()), 1)
	}
	wanted, now := r.condition(v, pod), conditions.Get(v.Status.Conditions, v1beta2.VolumeRemounted)
	if len(wanted) == 0 && now == nil || len(wanted) == 1 && now != nil && *now == wanted[0] {
		return after, nil
	}
	err = status.Apply(ctx, r.client, v, Owner, map[string]any{"conditions": status.ConditionsField(wanted)}, status.AtVersion())
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	if err == nil {
		r.written.Record(v)
	}
	return after, client.IgnoreNotFound(err)
}

// condition returns the condition of a Volume for the first pod that stays with a dead mount; none if there is no such pod.
func (r *reporter) condition(v *v1beta2.Volume, pod string) []v1beta2.Condition {
	if pod == "" {
		return nil
	}
	out := conditions.Set(v.Status.Conditions, v1beta2.Condition{Type: v1beta2.VolumeRemounted, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonBackendNotReady, Message: fmt.Sprintf("Pod %s has a mount that lost its device at %s. It is not deleted, as "+
			"no other pod could mount the volume: Service %s leads to no ready pod. Start api-gateway, and let the Service lead to it; "+
			"then the pod is deleted and its controller creates another one.", pod, v.Status.RemountRequestedAt, backend)}, r.clock.Now())
	return out[len(out)-1:]
}

// keptPod returns the first pod, by its name, that stays although the volume was detached under it, and when to look again.
func (r *reporter) keptPod(ctx context.Context, v *v1beta2.Volume) (string, time.Time, error) {
	users, err := kube.UsersOf(ctx, r.client, v.Name)
	if err != nil {
		return "", time.Time{}, err
	}
	first, at := "", time.Time{}
	for _, pod := range users.Pods {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		s, err := r.observer.observe(ctx, key)
		if err != nil {
			return "", time.Time{}, err
		}
		if s == nil {
			continue
		}
		verdict := podrecovery.Decide(s.facts)
		if !verdict.At.IsZero() && (at.IsZero() || verdict.At.Before(at)) {
			at = verdict.At
		}
		if slices.Contains(verdict.Unmountable, v.Name) && (first == "" || key.String() < first) {
			first = key.String()
		}
	}
	return first, at, nil
}
