// Package shelltest runs im-monitor's own controllers against a real API server for tests: the controllers as they are
// wired in the binary, a kubelet's part for instance-manager pods, and scripted instance managers behind a real
// inventory.
package shelltest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/im-monitor/internal/cachetransform"
	"drover.dev/drover/im-monitor/internal/diskcontroller"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/instancemanagercontroller"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/nodecontroller"
	"drover.dev/drover/im-monitor/internal/nodedisks"
	"drover.dev/drover/im-monitor/internal/ownershipcontroller"
	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

// Patience is how long a test waits for what must happen.
const Patience = time.Minute

// Env is one namespace with im-monitor's controllers running in it.
type Env struct {
	Namespace string
	// Admin may do everything and reads from the API server.
	Admin client.WithWatch
	// Servers are the instance managers by name, as scripted.
	Servers *Servers
	// Kubelet plays the kubelets' part; it runs by default.
	Kubelet *Kubelet

	t      testing.TB
	change func(*instancecontroller.Options)
	mu     sync.Mutex
	client *cut.Client
	// executor is the client of those who start and stop instances, removing that of those who destroy data.
	executor, removing *cut.Client
	removal            removalcontroller.Options
	die                context.CancelFunc
}

// Start makes a namespace, and runs the controllers, with the rights of im-monitor's generated roles, and the kubelets'
// part until the test ends.
func Start(t testing.TB) *Env { return StartCut(t, cut.Point{}) }

// StartCut is Start with a process that dies at a point; another one takes its place at once.
func StartCut(t testing.TB, at cut.Point) *Env {
	t.Helper()
	return start(t, cuts{all: at}, func(*instancecontroller.Options) {}, removalcontroller.Options{})
}

// cuts are where a process dies: counting all of its writes, those of the executor of instances only, or those of the
// removal of data.
type cuts struct{ all, executor, removal cut.Point }

// StartWith is StartCut with other options for starting and stopping instances; only the writes of their executor are counted.
func StartWith(t testing.TB, at cut.Point, change func(*instancecontroller.Options)) *Env {
	t.Helper()
	return start(t, cuts{executor: at}, change, removalcontroller.Options{})
}

// StartRemoving is StartCut with options for destroying the data of deleted replicas; only the writes of that are counted. Without a Poll
// engines answer as their status shows.
func StartRemoving(t testing.TB, at cut.Point, options removalcontroller.Options) *Env {
	t.Helper()
	return start(t, cuts{removal: at}, func(*instancecontroller.Options) {}, options)
}

func start(t testing.TB, at cuts, change func(*instancecontroller.Options), removal removalcontroller.Options) *Env {
	t.Helper()
	namespace := testkit.Namespace(t)
	if removal.Poll == nil {
		removal.Poll = func(_ context.Context, e *v1beta2.Engine) (map[string]string, error) {
			return e.Status.ReplicaModeMap, nil
		}
	}
	e := &Env{Namespace: namespace, Admin: testkit.Admin(t), Servers: newServers(), t: t, change: change, removal: removal}
	e.Kubelet = startKubelet(t, e.Admin, namespace)
	access := identity(t, namespace)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.lives(ctx, access, at) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with %v", err)
		}
	})
	return e
}

// lives runs one process until the cut, and another one after it until ctx ends.
func (e *Env) lives(ctx context.Context, access *rest.Config, at cuts) error {
	first, die := context.WithCancel(ctx)
	defer die()
	e.mu.Lock()
	e.die = die
	e.mu.Unlock()
	if err := e.process(first, access, at, die); err != nil || ctx.Err() != nil {
		return err
	}
	return e.process(ctx, access, cuts{}, nil)
}

// Crash ends the first process; another one takes its place at once.
func (e *Env) Crash() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.die()
}

// ExecutorWrites are those of Writes that concern the status of Engines, EngineFrontends and Replicas.
func (e *Env) ExecutorWrites() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.executor.Writes()
}

// BeforeExecutorWrite has the function called once, right before the next of ExecutorWrites is sent.
func (e *Env) BeforeExecutorWrite(call func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.executor.BeforeNext(call)
}

// RemovalWrites are those of Writes that concern the data of deleted replicas.
func (e *Env) RemovalWrites() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.removing.Writes()
}

// Another runs a second process beside the first until the returned function ends it: two leaders for a moment.
func (e *Env) Another() (stop func()) {
	e.t.Helper()
	access := identity(e.t, e.Namespace)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.process(ctx, access, cuts{}, nil) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			e.t.Errorf("the second manager ended with %v", err)
		}
	})
	e.t.Cleanup(stop)
	return stop
}

// Writes returns what the process that was started last has written.
func (e *Env) Writes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.client.Writes()
}

func (e *Env) process(ctx context.Context, access *rest.Config, at cuts, onCut func()) error {
	manager, err := ctrl.NewManager(access, ctrl.Options{
		Scheme: testkit.Scheme(e.t), Logger: logr.Discard(), LeaderElection: false,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{e.Namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(), ByObject: cachetransform.Cache(),
		},
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	all := cut.New(manager.GetClient(), at.all, onCut)
	executor := cut.New(all, at.executor, onCut)
	removing := cut.New(all, at.removal, onCut)
	e.client, e.executor, e.removing = all, executor, removing
	e.mu.Unlock()
	rt := &runkit.Runtime{Manager: manager, Client: all, Uncached: manager.GetAPIReader(),
		Recorder: manager.GetEventRecorder("im-monitor"), Namespace: e.Namespace, Clock: clock.RealClock{}, Log: logr.Discard(),
		RenewDeadline: 10 * time.Second, ElectedAt: sync.OnceValue(time.Now)}
	if err := e.wire(ctx, rt, executor, removing); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// wire is what the binary's setup does, without the evaluation and with short times.
func (e *Env) wire(ctx context.Context, rt *runkit.Runtime, executor, removing client.Client) error {
	instances, removal := e.instances(), e.removal
	removal.Locks = instances.Locks
	store := inventory.New(inventory.Config{Connect: e.Servers.connect, Settle: 300 * time.Millisecond, AbsenceGap: 50 * time.Millisecond,
		Quiet: 100 * time.Millisecond, CallPatience: time.Nanosecond, FollowUpInterval: 10 * time.Millisecond,
		AskDisk: e.Servers.Disk, Disks: nodedisks.Reader(rt.Client, rt.Namespace)})
	options := instancemanager.DefaultOptions()
	options.UnreachableAfter = 300 * time.Millisecond
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Defaults().Pods)
	err := errors.Join(
		settingcontroller.Setup(rt, settings),
		nodecontroller.Setup(ctx, rt, settings),
		instancemanagercontroller.Setup(ctx, rt, settings, store, options),
		diskcontroller.Setup(ctx, rt, settings, store, store.Disk, e.Servers,
			diskcontroller.Options{Period: time.Hour, Gap: 10 * time.Millisecond,
				CallTimeout: 100 * time.Millisecond, RetryMin: 100 * time.Millisecond, RetryMax: time.Second}),
		ownershipcontroller.Setup(ctx, rt, true))
	executorRuntime, removalRuntime := *rt, *rt // once indexes were added: copies share what is known of them
	executorRuntime.Client, removalRuntime.Client = executor, removing
	return errors.Join(err,
		instancecontroller.Setup(ctx, &executorRuntime, settings, store, instances),
		removalcontroller.Setup(ctx, &removalRuntime, store, removal),
		rt.Manager.Add(store),
	)
}

// instances are the options of starting and stopping: as in the binary, without a post-election delay.
func (e *Env) instances() instancecontroller.Options {
	options := instancecontroller.Options{EnginePrefix: "/engine-binaries/", HostPrefix: "/host", ControlPath: "/var/lib/longhorn",
		Locks: &execute.Locks{}}
	e.change(&options)
	return options
}
