package certificatecontroller

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/certificate"
)

// keeper keeps the Secret and the configurations.
type keeper struct {
	rt       *runkit.Runtime
	validity time.Duration
	written  kube.Written
}

// seen is a World and the objects that it was taken from.
type seen struct {
	world      certificate.World
	secret     *corev1.Secret
	mutating   *admissionv1.MutatingWebhookConfiguration
	validating *admissionv1.ValidatingWebhookConfiguration
}

// Reconcile implements reconcile.Reconciler.
func (k *keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := k.observe(ctx, request.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	if s.secret != nil && k.behind(s) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	if s.secret == nil {
		log.FromContext(ctx).Info("the webhook has no Secret for its certificate, and does not serve: apply snapshot-controller/deploy",
			"name", request.Name)
		return ctrl.Result{}, nil
	}
	verdict := certificate.Decide(s.world)
	if verdict.Step == certificate.StepNone {
		if verdict.RequeueAt.IsZero() {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{RequeueAfter: verdict.RequeueAt.Sub(s.world.Now)}, nil
	}
	if err := k.apply(ctx, s, verdict); err != nil {
		if status.IsConflict(err) {
			return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	steps.WithLabelValues(string(verdict.Step)).Inc()
	log.FromContext(ctx).Info("verdict applied", "step", verdict.Step)
	return ctrl.Result{}, nil
}

// behind reports whether one of the objects was changed a moment ago, and the cache does not know yet.
func (k *keeper) behind(s *seen) bool {
	return k.written.Stale(s.secret) || s.mutating != nil && k.written.Stale(s.mutating) || s.validating != nil &&
		k.written.Stale(s.validating)
}

func (k *keeper) observe(ctx context.Context, key client.ObjectKey) (*seen, error) {
	s := &seen{world: certificate.World{Now: k.rt.Clock.Now(), Hosts: Hosts(k.rt.Namespace), Validity: k.validity}}
	var err error
	if s.secret, err = lookup.Get(ctx, k.rt.Client, key.Namespace, key.Name, &corev1.Secret{}); s.secret == nil || err != nil {
		return s, err
	}
	s.world.Serving, s.world.Next, s.world.Previous = servingIn(s.secret), nextIn(s.secret), s.secret.Data[previousKey]
	if s.mutating, err = lookup.Get(ctx, k.rt.Client, "", ConfigurationName, &admissionv1.MutatingWebhookConfiguration{}); err != nil {
		return s, err
	}
	if s.validating, err = lookup.Get(ctx, k.rt.Client, "", ConfigurationName, &admissionv1.ValidatingWebhookConfiguration{}); err != nil {
		return s, err
	}
	s.world.Bundles = append(mutatingBundles(s.mutating), validatingBundles(s.validating)...)
	return s, nil
}

func mutatingBundles(c *admissionv1.MutatingWebhookConfiguration) [][]byte {
	if c == nil {
		return nil
	}
	var out [][]byte
	for _, w := range c.Webhooks {
		out = append(out, w.ClientConfig.CABundle)
	}
	return out
}

func validatingBundles(c *admissionv1.ValidatingWebhookConfiguration) [][]byte {
	if c == nil {
		return nil
	}
	var out [][]byte
	for _, w := range c.Webhooks {
		out = append(out, w.ClientConfig.CABundle)
	}
	return out
}
