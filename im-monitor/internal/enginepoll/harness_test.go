package enginepoll_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/im-monitor/internal/cachetransform"
	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m)
}

const (
	gib      = 1 << 30
	patience = 60 * time.Second
	poll     = testkit.Poll
	im       = "im-1"
	name     = "vol-e-0"
	first    = "vol-r-00000001"
	second   = "vol-r-00000002"
	third    = "vol-r-00000003"
)

// addresses are where the replicas listen.
var addresses = map[string]string{first: "10.0.0.11:10000", second: "10.0.0.12:10000", third: "10.0.0.13:10000"}

// quick are the options of most tests.
var quick = enginepoll.Options{Period: 100 * time.Millisecond, Busy: 20 * time.Millisecond, RebuildStallTimeout: time.Hour}

// world is a namespace of a real API server with the controller of engines in it, as im-monitor's ServiceAccount with its
// generated roles, and one instance manager with one engine. The test plays everybody else.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	server    *engineServer
	servers   map[string]*engineServer
	options   enginepoll.Options
	observe   bool
	// wrap is the client that the controller has, around the given one; nil is the given one.
	wrap func(client.Client) client.Client

	mu      sync.Mutex
	running *process
}

// process is one run of the controller.
type process struct {
	controller *enginepoll.Controller
	client     *cut.Client
	stop       context.CancelFunc
	done       chan error
}

// newWorld has an engine that runs over the first replica.
func newWorld(t *testing.T, options enginepoll.Options) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), server: serve(t), options: options}
	w.identity = testkit.BinaryIdentity(t, w.namespace, "im-monitor")
	w.servers = map[string]*engineServer{serverAddress: w.server}
	w.server.has(addresses[first], ptypes.ReplicaMode_RW)
	w.manager(im, serverAddress)
	w.engine(name, "vol", v1beta2.DataEngineV1, first)
	w.runs(name, im, "run-1")
	t.Cleanup(w.stop)
	return w
}

// started is newWorld with the controller in it, which has polled.
func started(t *testing.T, options enginepoll.Options) *world {
	t.Helper()
	w := newWorld(t, options)
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), o))
}

func (w *world) status(o client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, o, fields))
}

// spec merges fields into the engine's spec, as attach-controller does.
func (w *world) spec(fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, &v1beta2.Engine{ObjectMeta: w.meta(name)}, fields))
}

func (w *world) maps(replicas ...any) {
	m := map[string]any{}
	for i := 0; i < len(replicas); i += 2 {
		m[replicas[i].(string)] = replicas[i+1]
	}
	w.spec(map[string]any{"replicaAddressMap": m})
}

func (w *world) manager(name, ip string) {
	w.t.Helper()
	m := &v1beta2.InstanceManager{ObjectMeta: w.meta(name)}
	w.create(m)
	w.status(m, map[string]any{"ip": ip, "currentState": v1beta2.InstanceManagerStateRunning})
}

func (w *world) engine(name, volume, dataEngine string, replicas ...string) {
	w.t.Helper()
	e := &v1beta2.Engine{ObjectMeta: w.meta(name),
		Spec: v1beta2.EngineSpec{VolumeName: volume, VolumeSize: gib, DataEngine: dataEngine, Active: true,
			NodeID: "node-1", DesireState: v1beta2.InstanceStateRunning, ReplicaAddressMap: map[string]string{}}}
	for _, r := range replicas {
		e.Spec.ReplicaAddressMap[r] = addresses[r]
	}
	w.create(e)
}

// runs plays those who start instances.
func (w *world) runs(name, manager, uuid string) {
	w.t.Helper()
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(name)},
		map[string]any{"currentState": v1beta2.InstanceStateRunning, "uuid": uuid, "ip": serverAddress,
			"storageIP": serverAddress, "port": 10000, "instanceManagerName": manager, "started": true})
}

func (w *world) get() *v1beta2.Engine {
	w.t.Helper()
	e := &v1beta2.Engine{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, e))
	return e
}

// until waits for what must become true of the engine.
func (w *world) until(what string, holds func(*v1beta2.Engine) bool) *v1beta2.Engine {
	w.t.Helper()
	var e *v1beta2.Engine
	require.Eventually(w.t, func() bool { e = w.get(); return holds(e) }, patience, poll, what)
	return e
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	require.Eventually(w.t, holds, patience, poll, what)
}

// modes waits until the status reports exactly these.
func (w *world) modes(want map[string]string) *v1beta2.Engine {
	w.t.Helper()
	return w.until(fmt.Sprintf("the modes never became %v", want), func(e *v1beta2.Engine) bool {
		return fmt.Sprint(e.Status.ReplicaModeMap) == fmt.Sprint(want)
	})
}

// polls waits until so many polls more began.
func (w *world) polls(more int) {
	w.t.Helper()
	before := len(w.server.called("ReplicaList"))
	w.eventually("no one polls", func() bool { return len(w.server.called("ReplicaList")) >= before+more })
}

func (w *world) start() *process { return w.startCut(cut.Point{}) }

// startCut runs the controller until it is stopped; at a cut it is followed by another one.
func (w *world) startCut(at cut.Point) *process {
	w.t.Helper()
	require.NoError(w.t, client.IgnoreAlreadyExists(w.admin.Create(w.t.Context(),
		&v1beta2.Volume{ObjectMeta: w.meta("vol"), Spec: v1beta2.VolumeSpec{Size: gib}})))
	p, err := w.process(at)
	require.NoError(w.t, err)
	return p
}

func (w *world) process(at cut.Point) (*process, error) {
	scheme, err := runkit.Scheme()
	if err != nil {
		return nil, err
	}
	skip := true
	manager, err := ctrl.NewManager(w.identity, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
			DefaultTransform: cache.TransformStripManagedFields(), ByObject: cachetransform.Cache()},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{stop: cancel, done: make(chan error, 1)}
	inner := manager.GetClient()
	if w.wrap != nil {
		inner = w.wrap(inner)
	}
	p.client = cut.New(inner, at, cancel)
	rt := &runkit.Runtime{Manager: manager, Client: p.client, Uncached: manager.GetAPIReader(),
		Recorder:  manager.GetEventRecorder("im-monitor"),
		Namespace: w.namespace, Clock: clock.RealClock{}, Log: logr.Discard(), Observe: w.observe, ElectedAt: sync.OnceValue(time.Now)}
	if p.controller, err = enginepoll.Setup(ctx, rt, connect(w.servers), w.options); err != nil {
		cancel()
		return nil, err
	}
	go func() { p.done <- manager.Start(ctx) }()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = p
	return p, nil
}

// stop ends the controller that runs.
func (w *world) stop() {
	w.mu.Lock()
	p := w.running
	w.running = nil
	w.mu.Unlock()
	if p != nil {
		p.stop()
		require.NoError(w.t, <-p.done)
	}
}
