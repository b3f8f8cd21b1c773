// Package shell runs a binary's controllers in a test, as they run there: with its ServiceAccount and its cache, on the real
// API server, and with a client whose writes can be cut.
package shell

import (
	"context"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

// Options are what differs between controllers, and between runs.
type Options struct {
	// Identity is the access of the binary's ServiceAccount; Owner is the binary's name.
	Identity         *rest.Config
	Namespace, Owner string
	// Cache is what the binary caches other than whole objects without managed fields.
	Cache map[client.Object]cache.ByObject
	// Wrap wraps the client of the controllers; nil: none.
	Wrap func(client.Client) client.Client
	// At is the write at which the run is cut, OnCut is called then; by default it is not cut.
	At    cut.Point
	OnCut func()
	// Clock is the real one unless given.
	Clock clock.Clock
}

// Process is one run of the controllers.
type Process struct {
	// Client is theirs; it counts what they write.
	Client *cut.Client
	// Stop ends the run, Wait returns when it has ended.
	Stop context.CancelFunc

	ended chan struct{}
	err   error
}

// Start lets setup register controllers and runs them until Stop, or until they are cut. Logs of controller-runtime are dropped.
func Start(t testing.TB, o Options, setup func(context.Context, *runkit.Runtime) error) *Process {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	scheme, err := runkit.Scheme()
	require.NoError(t, err)
	manager, err := ctrl.NewManager(o.Identity, ctrl.Options{
		Scheme: scheme,
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.Namespace: {}}, ByObject: o.Cache,
			DefaultTransform: cache.TransformStripManagedFields(),
		},
		MapperProvider: func(*rest.Config, *http.Client) (apimeta.RESTMapper, error) { return testkit.RESTMapper(t), nil },
		Metrics:        metricsserver.Options{BindAddress: "0"},
		Controller:     config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(t, err)
	inner := manager.GetClient()
	if o.Wrap != nil {
		inner = o.Wrap(inner)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Process{Stop: cancel, ended: make(chan struct{})}
	p.Client = cut.New(inner, o.At, func() {
		cancel()
		if o.OnCut != nil {
			o.OnCut()
		}
	})
	own, err := leaselock.NewIdentity(leaselock.Place{})
	require.NoError(t, err)
	require.NoError(t, setup(ctx, &runkit.Runtime{
		Manager: manager, Client: p.Client, Uncached: manager.GetAPIReader(),
		DryRun: client.NewDryRunClient(inner), Recorder: manager.GetEventRecorder(o.Owner),
		Namespace: o.Namespace, Clock: o.Clock, Log: logr.Discard(),
		Identity: own, LeaseConfig: o.Identity,
	}))
	go func() {
		p.err = manager.Start(ctx)
		close(p.ended)
	}()
	return p
}

// Ended is closed when the run has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits until the run has ended and returns why, nil after Stop.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}
