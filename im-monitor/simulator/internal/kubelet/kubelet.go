// Package kubelet plays the kubelets of the simulated nodes, as far as instance managers need them: it makes Kubernetes Node objects and
// keeps their heartbeats, creates the pods of the DaemonSets of engine images as the DaemonSet controller would, runs these and
// instance-manager pods, and those that try an image or read its version, on their nodes and removes deleted ones, fills in the disks of
// Longhorn nodes as a node agent does, and removes the directories of deleted v1 replicas. A node that is partitioned or dead is silent;
// since no one else may watch heartbeats in a test cluster, its Ready condition is turned to Unknown here, after a grace period, as the
// node life-cycle controller would.
package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

// Machine runs the processes of pods on nodes: simulated ones, or real ones.
type Machine interface {
	// Observe sets the functions that are called after something happened to a pod or a node by itself.
	Observe(onPod func(string), onNode func(string, machine.NodeState))
	Nodes() []machine.NodeInfo
	NodeState(name string) (machine.NodeState, bool)
	RemoveNode(name string) error
	Pod(name string) (machine.Pod, bool)
	Pods() []machine.Pod
	// StartPod runs the process of a pod as its container has it; a pod that runs already is left alone. ErrEnded marks the error of a
	// container that ended at its start.
	StartPod(name, uid, node, engine string, c machine.Container) (machine.Pod, error)
	StopPod(name string)
	// PutEngine puts the engine binary of an image into a directory of a node's host, RemoveEngine removes it from there.
	PutEngine(node, directory, image string) error
	RemoveEngine(node, directory string) error
	// EngineVersion returns what the binary of an image prints for `version --client-only`.
	EngineVersion(image string) (string, error)
}

// Devices makes the blank block devices of nodes.
type Devices interface{ EnsureDevice(node, path string) }

// Options report what the kubelets do.
type Options struct {
	Config    *rest.Config
	Namespace string
	Machine   Machine
	// Devices gives each node the device of its block disk; nil means that nodes have no block disk.
	Devices Devices
	// Directories are the directories of v1 replicas.
	Directories Directories
	Clock       clock.WithDelayedExecution
	// Heartbeat is how often a node's Lease is renewed, StatusPeriod how often its status is written unchanged; 0 means never.
	Heartbeat, StatusPeriod time.Duration
	// DefaultDisks gives a Longhorn Node without disks a filesystem disk, and a block disk where there are Devices.
	DefaultDisks bool
	// LeaveDisks leaves the disks of Longhorn Nodes to disk-controller.
	LeaveDisks bool
	// NodeGrace is how long a silent node stays Ready.
	NodeGrace time.Duration
	// Workers is how many pods and nodes are dealt with at once.
	Workers int
	Log     *slog.Logger
}

// Kubelet is the kubelets of all nodes.
type Kubelet struct {
	options Options
	client  kubernetes.Interface
	dynamic dynamic.Interface
	pods    corelisters.PodNamespaceLister
	factory informers.SharedInformerFactory

	podQueue  workqueue.TypedRateLimitingInterface[string]
	nodeQueue workqueue.TypedRateLimitingInterface[string]
	diskQueue workqueue.TypedRateLimitingInterface[string]
	dirQueue  workqueue.TypedRateLimitingInterface[string]
	silent    silences
	engines   sync.Map // where the pods of engine images have put the binary, by the pod's name
	setQueue  workqueue.TypedRateLimitingInterface[string]
	sets      appslisters.DaemonSetNamespaceLister
	nodes     corelisters.NodeLister
	cluster   []informers.SharedInformerFactory // of DaemonSets, and of nodes
	disks     atomic.Value                      // the cache.Store of Longhorn nodes, once there is one
	replicas  atomic.Value                      // that of Replicas
}

// New prepares the kubelets; Run starts them.
func New(o Options) (*Kubelet, error) {
	config := rest.CopyConfig(o.Config)
	config.QPS, config.Burst = -1, 0
	config.UserAgent = "drover-simulator"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a Kubernetes client: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a dynamic client: %w", err)
	}
	k := &Kubelet{options: o, client: client, dynamic: dynamicClient, podQueue: queue(), nodeQueue: queue(), diskQueue: queue(),
		setQueue: queue(), dirQueue: queue(),
		silent: silences{since: map[string]time.Time{}}}
	k.factory = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(o.Namespace),
		informers.WithTweakListOptions(func(l *metav1.ListOptions) {
			l.LabelSelector = v1beta2.LabelComponent + " in (" + strings.Join([]string{v1beta2.ComponentInstanceManager, componentCheck,
				v1beta2.ComponentEngineImage, componentVersion}, ",") + ")"
		}))
	k.watchSets()
	k.pods = k.factory.Core().V1().Pods().Lister().Pods(o.Namespace)
	o.Machine.Observe(k.podQueue.Add, k.nodeChanged)
	return k, nil
}

// queue retries quickly: nothing here waits for anything but the API server.
func queue() workqueue.TypedRateLimitingInterface[string] {
	return workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](20*time.Millisecond,
		5*time.Second))
}

// Run works until ctx ends.
func (k *Kubelet) Run(ctx context.Context) error {
	informer := k.factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(handler(k.podQueue))
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	if _, err := informer.AddEventHandler(k.onPodOfSet()); err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	if err := k.followSets(); err != nil {
		return err
	}
	for _, factory := range append(k.cluster, k.factory) {
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		factory.WaitForCacheSync(ctx.Done())
	}
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return k.watchDisks(ctx) })
	group.Go(func() error { k.beat(ctx); return nil })
	for range k.options.Workers {
		group.Go(func() error { k.work(ctx, "pod", k.podQueue, k.reconcilePod); return nil })
		group.Go(func() error { k.work(ctx, "node", k.nodeQueue, k.reconcileNode); return nil })
		group.Go(func() error { k.work(ctx, "disks", k.diskQueue, k.reconcileDisks); return nil })
		group.Go(func() error { k.work(ctx, "directory", k.dirQueue, k.reconcileDirectory); return nil })
	}
	group.Go(func() error { k.work(ctx, "daemon set", k.setQueue, k.reconcileSet); return nil })
	<-ctx.Done()
	for _, q := range []workqueue.TypedRateLimitingInterface[string]{k.podQueue, k.nodeQueue, k.diskQueue, k.setQueue, k.dirQueue} {
		q.ShutDown()
	}
	return group.Wait()
}

// handler queues the names of what changed.
func handler(q workqueue.TypedRateLimitingInterface[string]) cache.ResourceEventHandler {
	add := func(object any) {
		if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
			q.Add(key.Name)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }, DeleteFunc: add}
}

// work takes names off a queue until it is shut down. Failures are logged and tried again.
func (k *Kubelet) work(ctx context.Context, what string, q workqueue.TypedRateLimitingInterface[string],
	do func(context.Context, string) error) {
	for {
		name, shutdown := q.Get()
		if shutdown {
			return
		}
		if err := do(ctx, name); err != nil && ctx.Err() == nil {
			k.options.Log.Warn("will try again", "what", what, "name", name, "error", err)
			q.AddRateLimited(name)
		} else {
			q.Forget(name)
		}
		q.Done(name)
	}
}
