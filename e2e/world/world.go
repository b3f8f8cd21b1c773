package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cluster"
)

// Image is the instance manager's image in every World.
const Image = "longhornio/longhorn-instance-manager:v1.12.1"

// EngineImage is the image of engines and replicas of volumes without an image.
const EngineImage = "longhornio/longhorn-engine:v1.11.0"

// PortOffset is added to the simulator's ports when the recorder listens on the original ports.
const PortOffset = 1000

// Options configure a World.
type Options struct {
	// Nodes are the names of the simulated nodes.
	Nodes []string
	// Record starts the recording proxies in front of the API server and the simulator.
	Record bool
	// Overlay replaces source files in the controllers' build.
	Overlay Overlay
	// SimulatorArgs are added to the simulator's command line.
	SimulatorArgs []string
	// Flags are added to the command line of a controller, by its name.
	Flags map[string][]string
	// DataFrom is the etcd directory of an earlier cluster.
	DataFrom string
	// DataDir keeps etcd's data there after Close.
	DataDir string
	// TLS lets im-monitor and the simulator use mutual TLS. It excludes the recorder.
	TLS bool
	// Audit lets the API server keep a log of all requests; see Audited.
	Audit bool
	// Attach lets attach-controller run, too, and im-monitor start and stop instances. Without it the World itself does what
	// they would do, so that a scenario can remove the object of any instance.
	Attach bool
	// Snapshots lets snapshot-controller run, too; it needs Attach.
	Snapshots bool
	// Upgrades lets upgrade-controller run, too; it needs Attach.
	Upgrades bool
	// Gateway lets api-gateway run, too; it needs Attach.
	Gateway bool
	// Disks lets disk-controller run on each node, over a directory that is the root of the node: see Host. Replicas of v1 volumes keep their
	// directories there. Without it the simulator reports a v1 disk on each node.
	Disks bool
	// Kubernetes also runs the part of kube-controller-manager that attaches volumes for pods.
	Kubernetes bool
	// Lease is the duration of leases, for Worlds where leaders die; zero is the binaries' default. With a short one leaders
	// also lose their leases on a busy machine.
	Lease time.Duration
	// Sources are the module roots that controllers come from, binary and manifests, by their names; Definitions is the one of
	// the custom resource definitions. Those that are not named come from this module.
	Sources     map[string]string
	Definitions string
	// Policies installs the admission policies beside the definitions, as a cluster has them. Without them a scenario can delete what is in
	// use, and edit what belongs to controllers.
	Policies bool
	// RealTimes leaves the times of simulator and controllers as long as they are in a cluster, regardless of the environment.
	RealTimes bool
	// NoControllers leaves the controllers to the caller.
	NoControllers bool
	// Log receives progress messages; nil discards them.
	Log func(format string, args ...any)
}

// World is one running Drover.
type World struct {
	Namespace string
	// Dir has binaries, kubeconfigs and logs; Close removes it unless something failed.
	Dir    string
	Config *rest.Config
	Admin  client.WithWatch

	// API and DataPlane are set when Options.Record was set; Sequence always is.
	Sequence  *record.Sequence
	API       *record.API
	DataPlane *record.DataPlane

	options Options
	factor  int // the factor by which times are divided, see times.go
	cluster *cluster.Cluster
	control string // the URL of the simulator's control endpoint
	cancel  context.CancelFunc

	mutex     sync.Mutex
	processes []*Process
	mark      uint64
}

// Controllers are the binaries that run once in this World; disk-controller, which runs on each node, is not among them.
func (w *World) Controllers() []string {
	out := []string{IMMonitor, OrphanController}
	if w.options.Attach {
		out = append(out, AttachController)
	}
	if w.options.Snapshots {
		out = append(out, SnapshotController)
	}
	if w.options.Upgrades {
		out = append(out, UpgradeController)
	}
	if w.options.Gateway {
		out = append(out, APIGateway)
	}
	return out
}

// Start starts everything and returns when the nodes are ready and every instance manager runs.
func Start(ctx context.Context, options Options) (*World, error) {
	if options.Log == nil {
		options.Log = func(string, ...any) {}
	}
	// The messages of controller-runtime's client are in the errors that it returns.
	ctrllog.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "drover-world-")
	if err != nil {
		return nil, fmt.Errorf("creating the World's directory: %w", err)
	}
	lifetime, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &World{Namespace: v1beta2.DefaultNamespace, Dir: dir, Sequence: &record.Sequence{}, options: options, cancel: cancel}
	if w.factor, err = w.timeFactor(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	for _, step := range []func(context.Context, context.Context) error{w.build, w.controlPlane, w.record, w.revive, w.simulate,
		w.reviveDisks, w.startControllers, w.ready} {
		if err := step(ctx, lifetime); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

func (w *World) build(ctx, _ context.Context) error {
	w.options.Log("building the binaries; from an empty cache that takes some minutes")
	defer w.reportEvery(15*time.Second, "still building the binaries")()
	dataPlane := []string{dataPlaneBinary()}
	if w.options.TLS && IsReal() { // it makes the certificates
		dataPlane = append(dataPlane, SimulatorBinary)
	}
	if err := Build(ctx, w.Dir, nil, dataPlane...); err != nil {
		return err
	}
	var here []string
	if w.options.Disks {
		here = append(here, DiskController)
	}
	for _, controller := range w.Controllers() {
		root := w.options.Sources[controller]
		if root == "" {
			here = append(here, controller)
		} else if err := compile(ctx, root, w.Dir, nil, []string{controller}); err != nil {
			return err
		}
	}
	return Build(ctx, w.Dir, w.options.Overlay, here...)
}

// reportEvery logs the text and the time so far, until the function that it returns is called.
func (w *World) reportEvery(pause time.Duration, text string) (stop func()) {
	began, done := time.Now(), make(chan struct{})
	go func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				w.options.Log("%s, %s so far", text, time.Since(began).Round(time.Second))
			}
		}
	}()
	return func() { close(done) }
}

// root is the module root of a source, or this module's.
func root(ctx context.Context, source string) (string, error) {
	if source != "" {
		return source, nil
	}
	return ModuleRoot(ctx)
}

func (w *World) record(ctx, lifetime context.Context) error {
	if !w.options.Record {
		return nil
	}
	api, err := record.StartAPI(w.Config, w.Sequence)
	if err != nil {
		return err
	}
	w.API, w.DataPlane = api, record.NewDataPlane(w.Sequence, record.Ports, PortOffset)
	return w.DataPlane.Follow(lifetime, w.Config, w.Namespace, func(err error) { w.options.Log("recording: %v", err) })
}

// understood removes the flags that a controller from another source does not have.
func (w *World) understood(ctx context.Context, controller string, flags []string) []string {
	if w.options.Sources[controller] == "" {
		return flags
	}
	help, err := exec.CommandContext(ctx, filepath.Join(w.Dir, controller), "--help").CombinedOutput()
	if err != nil {
		return flags // the start of the binary reports the error
	}
	return slices.DeleteFunc(flags, func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return !strings.Contains(string(help), name+" ")
	})
}

// leaseFlags returns the flags of the controller's lease. The gateway has no lease; here no network has to learn that it ends.
func (w *World) leaseFlags(ctx context.Context, controller string) []string {
	if controller == APIGateway {
		return w.understood(ctx, controller, []string{"--shutdown-delay=100ms"})
	}
	flags := w.understood(ctx, controller, []string{"--lease-lock-dir=" + filepath.Join(w.Dir, "leases")})
	if lease := w.options.Lease; lease > 0 {
		flags = append(flags, fmt.Sprintf("--lease-duration=%s", lease), fmt.Sprintf("--renew-deadline=%s", lease*3/4),
			fmt.Sprintf("--retry-period=%s", lease/10))
	}
	return flags
}

// StartController starts one more process of the controller under its own identity.
func (w *World) StartController(ctx context.Context, controller, instance string) (*Process, error) {
	return w.startController(ctx, controller, instance, nil)
}

// startController starts a process of a controller, with the token of a pod or, without one, of its ServiceAccount.
func (w *World) startController(ctx context.Context, controller, instance string, pod *corev1.Pod, more ...string) (*Process, error) {
	kubeconfig, token, err := w.kubeconfig(ctx, controller, instance, pod)
	if err != nil {
		return nil, err
	}
	times, err := w.times(ctx, controller)
	if err != nil {
		return nil, err
	}
	flags := slices.Concat([]string{"--log-level=debug", "--log-format=text"}, times, w.leaseFlags(ctx, controller),
		w.options.Flags[controller], more)
	if !w.options.Attach && controller == IMMonitor {
		flags = append(slices.Clone(flags), w.understood(ctx, controller, []string{"--manage-instances=false"})...)
	}
	if w.options.TLS && controller == IMMonitor {
		flags = append(slices.Clone(flags), "--tls-dir", w.tlsDirectory())
	}
	addresses, err := freeAddresses(4)
	if err != nil {
		return nil, err
	}
	metrics, health, hook := addresses[0], addresses[1], addresses[2]
	args := append([]string{"--kubeconfig", kubeconfig, "--namespace", w.Namespace,
		"--metrics-bind-address", metrics, "--health-probe-bind-address", health}, flags...)
	args = append(args, w.understood(ctx, controller, []string{"--profile-address=" + addresses[3]})...)
	if controller == SnapshotController {
		binaries, err := w.engineBinaries()
		if err != nil {
			return nil, err
		}
		args = append(args, w.understood(ctx, controller, []string{"--webhook-port=" + portOf(hook), "--engine-binaries=" + binaries})...)
	}
	if controller == APIGateway {
		args = append(args, "--listen-address="+hook)
	}
	return w.run(&Process{Name: controller + instance, Source: token, binary: controller, args: args, metrics: metrics, health: health,
		hook: hook, profile: addresses[3]})
}

func (w *World) run(process *Process) (*Process, error) {
	process.Log, process.binary = filepath.Join(w.Dir, process.Name+".log"), filepath.Join(w.Dir, process.binary)
	if err := process.start(); err != nil {
		return nil, err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.processes = append(w.processes, process)
	return process, nil
}

// Process returns the running process of that name; nil if there is none.
func (w *World) Process(name string) *Process {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, process := range w.processes {
		if process.Name == name {
			return process
		}
	}
	return nil
}

// ShowLogs writes the last lines of every process's log, each under a headline with its name.
func (w *World) ShowLogs(to io.Writer, headline string, lines int) {
	w.mutex.Lock()
	processes := slices.SortedFunc(slices.Values(w.processes), func(a, b *Process) int { return strings.Compare(a.Name, b.Name) })
	w.mutex.Unlock()
	for _, process := range processes {
		fmt.Fprintf(to, "%s; the log of %s ends:\n%s\n", headline, process.Name, process.Tail(lines))
	}
}

// Remove stops an additional process and removes it from the World.
func (w *World) Remove(process *Process) error {
	w.mutex.Lock()
	w.processes = slices.DeleteFunc(w.processes, func(p *Process) bool { return p == process })
	w.mutex.Unlock()
	return process.Stop()
}

// Close stops everything, the controllers first. The directory with the logs stays when an error is returned, and the
// error names the directory.
func (w *World) Close() error {
	var failed error
	w.mutex.Lock()
	processes := w.processes
	w.processes = nil
	w.mutex.Unlock()
	for i := len(processes) - 1; i >= 0; i-- {
		failed = errors.Join(failed, processes[i].Stop())
	}
	w.cancel()
	if w.DataPlane != nil {
		w.DataPlane.Close()
	}
	if w.API != nil {
		failed = errors.Join(failed, w.API.Close())
	}
	if w.cluster != nil {
		failed = errors.Join(failed, w.cluster.Stop())
	}
	if failed != nil {
		return fmt.Errorf("%w\nlogs are in %s", failed, w.Dir)
	}
	return os.RemoveAll(w.Dir)
}
