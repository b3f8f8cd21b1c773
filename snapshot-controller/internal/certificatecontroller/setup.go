package certificatecontroller

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// The objects of the deployment; the first two are in the binary's namespace.
const (
	SecretName  = "snapshot-controller-webhook"
	ServiceName = "snapshot-controller-webhook"
	// ConfigurationName is that of both webhook configurations.
	ConfigurationName = "drover-snapshot-controller"
)

// Cached selects of each kind only the one object of that name: no other may be read.
func Cached() map[client.Object]cache.ByObject {
	named := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)}
	}
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: named(SecretName),
		&admissionv1.MutatingWebhookConfiguration{}:   named(ConfigurationName),
		&admissionv1.ValidatingWebhookConfiguration{}: named(ConfigurationName),
	}
}

// Hosts are the names in the certificate: the Service, and this machine, for manual checks.
func Hosts(namespace string) []string {
	return []string{ServiceName + "." + namespace + ".svc", "localhost", "127.0.0.1", "::1"}
}

// Options are who keeps the certificate, and for how long it is made.
type Options struct {
	// Validity is how long a certificate is valid.
	Validity time.Duration
	// External: another program keeps the Secret, and lets the API server trust what is in it. Nothing is written.
	External bool
}

// setupReader registers the controller that puts what is to be served into the store.
func setupReader(rt *runkit.Runtime, store *Store) error {
	expiry.WithLabelValues().Set(0)
	anyone, standbyToo := false, queue.Options(1)
	standbyToo.NeedLeaderElection = &anyone
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("webhook-certificate-in-use").
		WithOptions(standbyToo).
		For(&corev1.Secret{}).
		Complete(&loader{rt: rt, store: store})
	if err != nil {
		return fmt.Errorf("setting up the reader of the webhook's certificate: %w", err)
	}
	return nil
}

// Setup registers the reader and, where no other program does that, the controller that keeps the Secret and what trusts it.
func Setup(rt *runkit.Runtime, store *Store, options Options) error {
	if err := setupReader(rt, store); err != nil || options.External {
		return err
	}
	one := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: rt.Namespace, Name: SecretName}}}
	})
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("webhook-certificate").WithOptions(queue.Options(1)).
		For(&corev1.Secret{}).
		Watches(&admissionv1.MutatingWebhookConfiguration{}, one).
		Watches(&admissionv1.ValidatingWebhookConfiguration{}, one).
		Complete(&keeper{rt: rt, validity: options.Validity, written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}})
	if err != nil {
		return fmt.Errorf("setting up the controller of the webhook's certificate: %w", err)
	}
	return nil
}
