package runkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/leaselock"
)

const (
	apiServerTimeout = 5 * time.Second
	apiServerRetry   = 2 * time.Second
	apiServerCheck   = "api-server"
	cachesCheck      = "caches"
)

var errCaches = errors.New("the caches are not filled yet; if this stays, the log says which kind cannot be listed")

// Program is one binary: what differs between Drover's controllers.
type Program struct {
	// Name is the binary's name, and with it its field manager, lease (drover-<name>) and user agent.
	Name string
	// Version is the binary's own; each is released alone. A trailing line break is ignored.
	Version string
	// Short and Long are the help texts.
	Short, Long string
	// Flags adds the binary's own flags; nil means none.
	Flags func(*pflag.FlagSet)
	// Cache says what is cached other than whole objects of the namespace without managed fields.
	Cache map[client.Object]cache.ByObject
	// Contracts are the values of the label drover.dev/contract on custom resource definitions that this binary knows the
	// meaning of. With any other it is not ready, and does not lead.
	Contracts []string
	// Setup registers the controllers on the manager. They run only while the process leads.
	Setup func(context.Context, *Runtime) error
}

// Runtime is what a binary's Setup builds on.
type Runtime struct {
	Manager ctrl.Manager
	// Client reads from the cache; under Observe it says its writes instead of doing them.
	Client client.Client
	// Uncached reads from the API server.
	Uncached client.Reader
	// Recorder emits events.k8s.io/v1 events; under Observe it says them in the log.
	Recorder  events.EventRecorder
	Namespace string
	// Observe forbids every effect, also on the data plane.
	Observe bool
	Clock   clock.Clock
	Log     logr.Logger
	// LeaseDuration and RetryPeriod are the times of the lease beside RenewDeadline.
	LeaseDuration, RetryPeriod time.Duration
	// RenewDeadline is how long after the start of its last renewal a leader may write and call; calls with an effect end earlier.
	RenewDeadline time.Duration
	// Fence refuses what only the leader may do, once RenewDeadline has passed; Client passes it already.
	Fence *leaselock.Fence
	// Identity names this run in leases; LeaseConfig is the configuration of their clients, which pass no fence.
	Identity    *leaselock.Identity
	LeaseConfig *rest.Config
	// ElectedAt is when this process became leader, never earlier than it did; zero until then.
	ElectedAt func() time.Time

	afterStop []func()
}

// AfterStop has something done once this process was asked to stop, its work has ended and its lease is released: what may go on beside the
// next leader. The process ends when it is done. It is not done where the process stops by itself, as without its lease.
func (rt *Runtime) AfterStop(do func()) { rt.afterStop = append(rt.afterStop, do) }

// Scheme returns a scheme of the Kubernetes kinds and those of longhorn.io.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("building the scheme: %w", err)
	}
	return scheme, nil
}

// Main runs the program until SIGINT or SIGTERM and exits: 0 after a clean stop, 1 with the reason on standard error.
func Main(p Program) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := Command(p).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
}

// Command is the program as a command line.
func Command(p Program) *cobra.Command {
	var o options
	command := &cobra.Command{
		Use: p.Name, Version: version(p), Short: p.Short, Long: p.Long, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			if o.checkTakeOver {
				return checkTakeOver(cmd.Context(), o, p.Name, cmd.OutOrStdout())
			}
			return run(cmd.Context(), p, o)
		},
	}
	o.addFlags(command.Flags())
	if p.Flags != nil {
		p.Flags(command.Flags())
	}
	return command
}

func run(ctx context.Context, p Program, o options) error {
	log, err := o.logger()
	if err != nil {
		return err
	}
	log = log.WithValues("binary", p.Name)
	ctrl.SetLogger(log)
	klog.SetLogger(log.WithName("client"))
	if err := listFirst(); err != nil {
		return err
	}
	config, err := o.restConfig(p.Name)
	if err != nil {
		return err
	}
	asked := ctx // ends when somebody asks the process to stop
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	probed, end := context.WithCancel(context.WithoutCancel(ctx)) // also while work ends, and what goes on after it
	defer end()
	health, err := serveHealth(probed, o.healthAddress, log)
	if err != nil {
		return err
	}
	if err := awaitAPIServer(ctx, config, log, health); err != nil {
		return stopped(asked, log, err)
	}
	health.require(cachesCheck, func(context.Context) error { return errCaches })
	process := process{config: config, identity: identity(p.Name, o, config, log),
		fence: leaselock.NewFence(o.renewDeadline, clock.RealClock{})}
	defer func() { _ = process.identity.Close() }() // the system closes it anyway
	manager, guards, err := newManager(ctx, cancel, p, o, process, log)
	if err != nil {
		return stopped(asked, log, err)
	}
	rt := newRuntime(ctx, p, o, manager, log)
	rt.Fence, rt.Identity, rt.LeaseConfig = process.fence, process.identity, config
	addChecks(health, manager, guards)
	if err := settleMemory(manager, rt.Clock); err != nil {
		return err
	}
	if err := p.Setup(ctx, rt); err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	log.Info("starting", "version", version(p), "namespace", o.namespace, "observe", o.observe)
	if err := startAndStop(ctx, manager, o.gracefulShutdown); err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	for _, do := range rt.afterStop {
		do()
	}
	log.Info("stopped")
	return nil
}

func version(p Program) string { return cmp.Or(strings.TrimSpace(p.Version), "unknown") }

// stopped turns the error of work that was told to stop into a clean end.
func stopped(asked context.Context, log logr.Logger, err error) error {
	if asked.Err() == nil {
		return err
	}
	log.Info("stopped before it began")
	return nil
}

// awaitAPIServer returns once the API server answers, and says why it does not meanwhile, in the log and by readiness.
func awaitAPIServer(ctx context.Context, config *rest.Config, log logr.Logger, health *health) error {
	config = rest.CopyConfig(config)
	config.Timeout = apiServerTimeout
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("building the client that looks for the API server: %w", err)
	}
	says := func(missing error) {
		health.require(apiServerCheck, func(context.Context) error { return missing })
	}
	says(errors.New("the API server was not asked yet"))
	return wait.PollUntilContextCancel(ctx, apiServerRetry, true, func(context.Context) (bool, error) {
		_, err := server.ServerVersion()
		if err == nil {
			says(nil)
			return true, nil
		}
		missing := why(err, config.Host)
		says(missing)
		log.Info(missing.Error() + "; trying again")
		return false, nil
	})
}

// why says what keeps the API server from working with us: whether it is away, or refuses who we are.
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

// startAndStop runs the manager until ctx ends and all work under way did, or the time for that is over. The manager
// itself never returns when it is stopped while its caches cannot be filled, as without the right to list them.
func startAndStop(ctx context.Context, manager ctrl.Manager, patience time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(patience + time.Second)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return fmt.Errorf("work under way did not end within %s of the request to stop", patience)
	}
}

// newManager returns the manager, and what tells what stands against this process.
func newManager(ctx context.Context, cancel context.CancelCauseFunc, p Program, o options, process process, log logr.Logger) (ctrl.Manager,
	guards, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, guards{}, err
	}
	managerOptions := ctrl.Options{
		Scheme:         scheme,
		Logger:         log,
		MapperProvider: newMapper,
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
			ByObject:          p.Cache,
		},
		Metrics:                 metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:  "0", // see health
		GracefulShutdownTimeout: &o.gracefulShutdown,
		LeaseDuration:           &o.leaseDuration,
		RenewDeadline:           new(o.leaseTimes().ElectorDeadline()),
		RetryPeriod:             &o.retryPeriod,
	}
	managerOptions.Cache.NewInformer = inPages(pageSize, p.Cache, managerOptions.Cache.DefaultTransform)
	known, err := watchContracts(ctx, p, process.config, log)
	if err != nil {
		return nil, guards{}, err
	}
	against := guards{lead: known.Err, write: func() error { return nil }}
	if !o.observe {
		if against, err = elect(ctx, cancel, p, o, process, log, known, &managerOptions); err != nil {
			return nil, guards{}, err
		}
	}
	manager, err := ctrl.NewManager(process.fenced(), managerOptions)
	if err != nil {
		return nil, guards{}, fmt.Errorf("building the manager: %w", err)
	}
	return manager, against, nil
}

func newRuntime(ctx context.Context, p Program, o options, manager ctrl.Manager, log logr.Logger) *Runtime {
	rt := &Runtime{
		Manager: manager, Client: manager.GetClient(), Uncached: manager.GetAPIReader(),
		Recorder: manager.GetEventRecorder(p.Name), Namespace: o.namespace, Observe: o.observe,
		Clock: clock.RealClock{}, Log: log, LeaseDuration: o.leaseDuration, RenewDeadline: o.renewDeadline, RetryPeriod: o.retryPeriod,
	}
	rt.Client = refusals{rt.Client, rt.Recorder}
	if o.observe {
		rt.Client = observer{rt.Client, log.WithName("observe")}
		rt.Recorder = eventLog{log.WithName("observe")}
	}
	rt.ElectedAt = electedAt(ctx, manager.Elected(), rt.Clock)
	return rt
}

func addChecks(health *health, manager ctrl.Manager, against guards) {
	health.require(cachesCheck, func(ctx context.Context) error {
		// An answer in time is worth more than one that waits for the caches.
		ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		if !manager.GetCache().WaitForCacheSync(ctx) {
			return errCaches
		}
		return nil
	})
	health.require("alone", func(context.Context) error { return against.lead() })
	health.require("webhooks", func(context.Context) error { return against.write() })
}

func sprintf(format string, args []any) string { return fmt.Sprintf(format, args...) }
