package runkit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	apiServerRetry = 2 * time.Second
	apiServerCheck = "api-server"
)

// connect waits for the API server, and then for all kinds of the cache. It returns the scheme, and a mapper of the kinds that are served.
func connect(ctx context.Context, impatient *rest.Config, cached map[client.Object]cache.ByObject, log logr.Logger, health *health) (
	*runtime.Scheme, meta.RESTMapper, error) {
	if err := awaitAPIServer(ctx, impatient, log, health); err != nil {
		return nil, nil, err
	}
	health.require(cachesCheck, func(context.Context) error { return errCaches })
	scheme, err := Scheme()
	if err != nil {
		return nil, nil, err
	}
	mapper, err := awaitKinds(ctx, impatient, scheme, cached, log, health)
	return scheme, mapper, err
}

// awaitAPIServer returns once the API server answers. Until then it reports the reason in the log and by readiness.
func awaitAPIServer(ctx context.Context, impatient *rest.Config, log logr.Logger, health *health) error {
	server, err := discovery.NewDiscoveryClientForConfig(impatient)
	if err != nil {
		return fmt.Errorf("building the client that searches for the API server: %w", err)
	}
	return await(ctx, log, health, func() error {
		if _, err := server.ServerVersion(); err != nil {
			return why(err, impatient.Host)
		}
		return nil
	})
}

// awaitKinds returns a mapper once the API server serves all kinds of the cache: after its start it may serve custom resources moments
// after everything else. Until then it reports a missing kind in the log and by readiness.
func awaitKinds(ctx context.Context, impatient *rest.Config, scheme *runtime.Scheme, cached map[client.Object]cache.ByObject,
	log logr.Logger, health *health) (meta.RESTMapper, error) {
	var kinds []schema.GroupVersionKind
	for object := range cached {
		kind, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return nil, fmt.Errorf("finding the kinds of the cache: %w", err)
		}
		kinds = append(kinds, kind)
	}
	direct, err := rest.HTTPClientFor(impatient)
	if err != nil {
		return nil, fmt.Errorf("building the client that finds out which kinds are served: %w", err)
	}
	mapper, err := newMapper(impatient, direct)
	if err != nil {
		return nil, fmt.Errorf("building the client that finds out which kinds are served: %w", err)
	}
	return mapper, await(ctx, log, health, func() error {
		for _, kind := range kinds {
			if _, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
				return fmt.Errorf("the API server %s does not serve %s %s; if this stays, apply Drover's custom resource definitions: %w",
					impatient.Host, kind.GroupVersion(), kind.Kind, err)
			}
		}
		return nil
	})
}

// await returns once missing returns no error. Until then it reports the error in the log and by readiness.
func await(ctx context.Context, log logr.Logger, health *health, missing func() error) error {
	report := func(err error) { health.require(apiServerCheck, func(context.Context) error { return err }) }
	report(errors.New("the API server has not been asked yet"))
	return wait.PollUntilContextCancel(ctx, apiServerRetry, true, func(context.Context) (bool, error) {
		err := missing()
		report(err)
		if err != nil {
			log.Info(err.Error() + "; trying again")
		}
		return err == nil, nil
	})
}

// why explains an error of the API server: it is unreachable, or it refuses the identity.
func why(err error, server string) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server %s knows no such identity; the token of the kubeconfig or of the ServiceAccount is missing, "+
			"expired or of another cluster: %w", server, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the API server %s lets this identity not even read its version; bind the ClusterRole "+
			"system:public-info-viewer: %w", server, err)
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return fmt.Errorf("the API server %s answers, but cannot work: %w", server, err)
	}
	return fmt.Errorf("the API server %s does not answer: %w", server, err)
}
