// Package testkit gives tests a real Kubernetes API server with Drover's CRDs and RBAC.
//
// A package's TestMain calls Main; the first test that needs the API server starts it (a few seconds), the others
// share it, and it is gone when the tests end, however they end. Tests keep apart by namespace: Namespace makes a fresh
// one. The objects of a namespace are not deleted, not even with a controller manager: the whole cluster is thrown away.
//
// No fake client: conflicts, preconditions, admission, server-side apply and Forbidden are the real ones.
package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"drover.dev/drover/shared/testkit/cluster"
)

// Option changes what Main runs.
type Option func(*cluster.Options)

// WithClusterOptions starts the control plane with these options.
func WithClusterOptions(options cluster.Options) Option {
	return func(o *cluster.Options) { *o = options }
}

// shared is the control plane of this test binary.
var shared struct {
	sync.Mutex
	options *cluster.Options // nil before Main
	cluster *cluster.Cluster
	err     error
}

// Main runs the tests of a package and exits: the body of its TestMain.
func Main(m *testing.M, opts ...Option) {
	options := &cluster.Options{}
	for _, option := range opts {
		option(options)
	}
	shared.Lock()
	shared.options = options
	shared.Unlock()
	code := m.Run()
	if err := stop(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func stop() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		return nil
	}
	return shared.cluster.Stop()
}

// Cluster returns the control plane of this test binary, started and with its CRDs established. It panics when that is
// not possible: no test can continue then.
func Cluster() *cluster.Cluster {
	shared.Lock()
	defer shared.Unlock()
	if shared.options == nil {
		panic("testkit.Cluster needs a TestMain that calls testkit.Main")
	}
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = start(context.Background(), *shared.options)
	}
	if shared.err != nil {
		panic(fmt.Sprintf("testkit: %v", shared.err))
	}
	return shared.cluster
}

func start(ctx context.Context, options cluster.Options) (*cluster.Cluster, error) {
	root, err := cluster.ModuleRoot()
	if err != nil {
		return nil, err
	}
	options.CRDs = filepath.Join(root, "crds")
	return cluster.Start(ctx, options)
}
