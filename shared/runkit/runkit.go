package runkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/leaselock"
)

const (
	apiServerTimeout = 5 * time.Second
	cachesCheck      = "caches"
)

var errCaches = errors.New("the caches are not filled yet; if this stays, the log names the kind that cannot be listed")

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
	// Cache returns what is cached other than whole objects of the namespace without managed fields.
	Cache map[client.Object]cache.ByObject
	// Contracts are the values of the label drover.dev/contract on custom resource definitions that this binary knows the
	// meaning of. With any other it is not ready, and does not lead.
	Contracts []string
	// Stateless lets any number of processes work at once, each as soon as it runs, without a lease. The program sends a write at most once:
	// a refusal is its caller's answer, and no event.
	Stateless bool
	// GCPercent replaces gcPercent; 0 means gcPercent.
	GCPercent int
	// Lease is the name of its lease; "" means drover-<name>.
	Lease string
	// Complete fills in the parts of the program that depend on flags, once they are read, and returns an error if a flag is invalid; nil:
	// no part does.
	Complete func(*Program) error
	// Setup registers the controllers on the manager. They run only while the process leads.
	Setup func(context.Context, *Runtime) error
}

// leaseName returns the name of the lease.
func (p Program) leaseName() string { return cmp.Or(p.Lease, "drover-"+p.Name) }

// Runtime is what a binary's Setup builds on.
type Runtime struct {
	Manager ctrl.Manager
	// Client reads from the cache; under Observe it logs its writes instead of sending them.
	Client client.Client
	// Uncached reads from the API server.
	Uncached client.Reader
	// DryRun sends its writes as dry runs, which change nothing. A refusal of one is no event.
	DryRun client.Client
	// User is the name by which the API server knows this process; "" if it did not say.
	User string
	// Recorder emits events.k8s.io/v1 events; under Observe it logs them.
	Recorder  events.EventRecorder
	Namespace string
	// Observe forbids every effect, also on the data plane.
	Observe bool
	// WhyNotWrite returns why this process must not write, for example because a longhorn-manager runs; nil: it may write. A program with a
	// lease need not ask: if it must not write, it does not lead.
	WhyNotWrite func() error
	Clock       clock.Clock
	Log         logr.Logger
	// LeaseDuration and RetryPeriod are the times of the lease beside RenewDeadline.
	LeaseDuration, RetryPeriod time.Duration
	// RenewDeadline is how long after the start of its last renewal a leader may write and call; calls with an effect end earlier.
	RenewDeadline time.Duration
	// Fence refuses what only the leader may do, once RenewDeadline has passed; Client passes it already.
	Fence *leaselock.Fence
	// Identity names this run in leases; LeaseConfig is the configuration of their clients, which pass no fence.
	Identity    *leaselock.Identity
	LeaseConfig *rest.Config
	// Stopping is cancelled when the process is asked to stop. The work of a stateless program goes on for --shutdown-delay then, so that
	// the network learns first that it leads to this process no longer.
	Stopping context.Context
	// RequireReady adds a check to /readyz. It is nil in tests of a part of a program.
	RequireReady func(name string, check func(context.Context) error)
	// ElectedAt is when this process became leader, never earlier than it did; zero until then.
	ElectedAt func() time.Time

	afterStop []func()
	indexes   kube.Indexes
}

// AddIndexes adds indexes to the cache of the binary. Indexes that several reconcilers share are added once.
func (rt *Runtime) AddIndexes(ctx context.Context, indexes ...kube.Index) error {
	return rt.indexes.Add(ctx, rt.Manager.GetFieldIndexer(), indexes...)
}

// AfterStop runs a function once this process was asked to stop, its work has ended and its lease is released: work that may continue
// beside the next leader. The process ends when it is done. It is not run if the process stops by itself, as after losing its lease.
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
			if p.Complete != nil {
				if err := p.Complete(&p); err != nil {
					return err
				}
			}
			return run(cmd.Context(), p, o)
		},
	}
	o.addFlags(command.Flags(), p.Stateless)
	if p.Flags != nil {
		p.Flags(command.Flags())
	}
	return command
}

// processLogger guards the loggers of the process, since klog's logger has no lock.
var processLogger sync.Once

// setProcessLogger sets the loggers that client-go and controller-runtime share, only in the first run of a process: in tests, parts of an
// earlier run may still log when the next run begins.
func setProcessLogger(log logr.Logger) {
	processLogger.Do(func() {
		ctrl.SetLogger(log)
		klog.SetLogger(log.WithName("client"))
	})
}

func run(ctx context.Context, p Program, o options) error {
	log, err := o.logger()
	if err != nil {
		return err
	}
	log = log.WithValues("binary", p.Name)
	setProcessLogger(log)
	if err := listFirst(); err != nil {
		return err
	}
	config, err := o.restConfig(p.Name)
	if err != nil {
		return err
	}
	asked := ctx // ends when the process is asked to stop
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	var delay atomic.Int64
	defer context.AfterFunc(asked, func() {
		time.AfterFunc(time.Duration(delay.Load()), func() { cancel(context.Canceled) })
	})()

	probed, end := context.WithCancel(context.WithoutCancel(ctx)) // also during the end of work, and of AfterStop
	defer end()
	health, err := serveProbes(probed, o, log)
	if err != nil {
		return err
	}
	impatient := rest.CopyConfig(config)
	impatient.Timeout = apiServerTimeout
	scheme, mapper, err := connect(ctx, impatient, p.Cache, log, health)
	if err != nil {
		return stopped(asked, log, err)
	}
	process := process{config: config, scheme: scheme, mapper: mapper, identity: identity(p.leaseName(), o, config, log),
		fence: leaselock.NewFence(o.renewDeadline, clock.RealClock{})}
	defer func() { _ = process.identity.Close() }() // the system closes the file anyway
	manager, against, err := newManager(ctx, cancel, p, o, process, log)
	if err != nil {
		return stopped(asked, log, err)
	}
	rt := newRuntime(ctx, p, o, process, manager, log)
	rt.WhyNotWrite = against.lead
	rt.Stopping = asked
	rt.RequireReady = func(name string, c func(context.Context) error) { health.require(name, c) }
	rt.User = identify(ctx, impatient, o, log)
	addChecks(health, manager, against)
	if err := settleMemory(manager, rt.Clock, log, cmp.Or(p.GCPercent, gcPercent)); err != nil {
		return err
	}
	if err := p.Setup(ctx, rt); err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	if p.Stateless {
		health.require("stopping", func(context.Context) error { return asked.Err() })
		delay.Store(int64(o.shutdownDelay))
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

// stopped converts the error of work that was asked to stop into a clean end.
func stopped(asked context.Context, log logr.Logger, err error) error {
	if asked.Err() == nil {
		return err
	}
	log.Info("stopped before it began")
	return nil
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

// newManager returns the manager, and the blockers of this process.
func newManager(ctx context.Context, cancel context.CancelCauseFunc, p Program, o options, process process, log logr.Logger) (ctrl.Manager,
	blockers, error) {
	managerOptions := ctrl.Options{
		Scheme:         process.scheme,
		Logger:         log,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return process.mapper, nil },
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
			ByObject:          p.Cache,
		},
		Metrics: metricsserver.Options{BindAddress: o.metricsAddress,
			ExtraHandlers: map[string]http.Handler{DescribedPath: described(metrics.Registry)}},
		HealthProbeBindAddress:  "0", // see health
		GracefulShutdownTimeout: &o.gracefulShutdown,
		LeaseDuration:           &o.leaseDuration,
		RenewDeadline:           new(o.leaseTimes().ElectorDeadline()),
		RetryPeriod:             &o.retryPeriod,
	}
	managerOptions.Cache.NewInformer = inPages(pageSize, p.Cache, managerOptions.Cache.DefaultTransform)
	known, err := watchContracts(ctx, p, process.config, log)
	if err != nil {
		return nil, blockers{}, err
	}
	against := blockers{lead: known.Err, write: func() error { return nil }}
	if !o.observe {
		if against, err = elect(ctx, cancel, p, o, process, log, known, &managerOptions); err != nil {
			return nil, blockers{}, err
		}
	}
	config := process.fenced()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readAhead{next} })
	manager, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		return nil, blockers{}, fmt.Errorf("building the manager: %w", err)
	}
	return manager, against, nil
}

func newRuntime(ctx context.Context, p Program, o options, process process, manager ctrl.Manager, log logr.Logger) *Runtime {
	rt := &Runtime{
		Manager: manager, Client: manager.GetClient(), Uncached: manager.GetAPIReader(),
		Recorder: manager.GetEventRecorder(p.Name), Namespace: o.namespace, Observe: o.observe,
		Clock: clock.RealClock{}, Log: log, LeaseDuration: o.leaseDuration, RenewDeadline: o.renewDeadline, RetryPeriod: o.retryPeriod,
		Fence: process.fence, Identity: process.identity, LeaseConfig: process.config,
	}
	rt.DryRun = client.NewDryRunClient(manager.GetClient())
	if !p.Stateless {
		rt.Client = refusals{rt.Client, rt.Recorder}
	}
	if o.observe {
		rt.Client = observer{rt.Client, log.WithName("observe")}
		rt.Recorder = eventLog{log.WithName("observe")}
	}
	rt.ElectedAt = electedAt(ctx, manager.Elected(), rt.Clock)
	return rt
}

func addChecks(health *health, manager ctrl.Manager, against blockers) {
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
