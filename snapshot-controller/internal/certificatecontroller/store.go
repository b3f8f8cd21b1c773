package certificatecontroller

import (
	"context"
	"crypto/tls"
	"errors"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
)

// Store is the certificate that is served now.
type Store struct {
	now atomic.Pointer[tls.Certificate]
}

// Get is for tls.Config.GetCertificate.
func (s *Store) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := s.now.Load(); c != nil {
		return c, nil
	}
	return nil, errors.New("the webhook has no certificate yet")
}

// loader puts what the Secret has into the store.
type loader struct {
	rt    *runkit.Runtime
	store *Store
}

// Reconcile implements reconcile.Reconciler. What cannot be read leaves what is served as it is.
func (l *loader) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	secret, err := lookup.Get(ctx, l.rt.Client, request.Namespace, request.Name, &corev1.Secret{})
	if secret == nil || err != nil {
		return ctrl.Result{}, err
	}
	pair := servingIn(secret)
	if len(pair.Certificate) == 0 {
		return ctrl.Result{}, nil // the leader, or who else keeps it, makes one
	}
	loaded, err := pair.Load()
	if err != nil {
		log.FromContext(ctx).Info("the Secret's certificate cannot be served, and the one before stays", "reason", err.Error())
		return ctrl.Result{}, nil // its next change comes here
	}
	l.store.now.Store(loaded)
	expiry.WithLabelValues().Set(float64(loaded.Leaf.NotAfter.Unix()))
	return ctrl.Result{}, nil
}
